//! Prompts: the list, the texts, and the calls that a model makes when it follows a text.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use crate::support::{
    fixture::{Fixture, Session},
    host::Host,
    service::Service,
};

mod arguments;
mod following;
mod lists;

/// Maximum number of waits for one start.
const MAX_WAITS: usize = 100;

/// A session in which prompts are followed. Time is simulated.
struct PromptSession {
    service: Arc<Service>,
    host: Host,
    /// The last answer of each tool that was called for a prompt.
    answers: BTreeMap<String, Value>,
    /// Chooses one of several records, as a person would.
    chooses: fn(&Value) -> bool,
}

/// A call in the text of a prompt.
struct WrittenCall {
    tool: String,
    arguments: String,
}

async fn open(key: &str, more: &[(&str, &str)]) -> PromptSession {
    let Session { service, host, .. } = Fixture::new().key(key).variables(more).simulated_time().open().await;
    PromptSession { service, host, answers: BTreeMap::new(), chooses: |_| true }
}

/// Returns the text of a prompt.
async fn text(host: &mut Host, prompt: &str, arguments: Value) -> String {
    let answer = host.request("prompts/get", json!({"name": prompt, "arguments": arguments})).await;
    let messages = answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{prompt}: {answer}"));
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
    messages[0]["content"]["text"].as_str().expect("a text").to_owned()
}

/// Returns the calls in a text: its numbered lines.
fn steps(text: &str) -> Vec<WrittenCall> {
    let step = |line: &str| {
        let (number, call) = line.split_once(". ")?;
        number.parse::<usize>().ok()?;
        let (tool, arguments) = call.split_once(' ')?;
        Some(WrittenCall { tool: tool.to_owned(), arguments: arguments.to_owned() })
    };
    text.lines().filter_map(step).collect()
}

impl PromptSession {
    /// Gets a prompt and makes its calls in their order. Returns the names of the called tools.
    async fn follow(&mut self, prompt: &str, arguments: Value) -> Vec<String> {
        let text = text(&mut self.host, prompt, arguments).await;
        let mut called = Vec::new();

        for step in steps(&text) {
            for arguments in self.fill_in(&step.arguments) {
                let arguments: Value = serde_json::from_str(&arguments).expect("JSON");
                let answer = self.make_call(&text, &step.tool, arguments).await;
                self.answers.insert(step.tool.clone(), answer);
            }
            called.push(step.tool);
        }

        called
    }

    /// Makes a call, and repeats it while it times out. A failure must be one that the text mentions.
    async fn make_call(&mut self, text: &str, tool: &str, arguments: Value) -> Value {
        for _ in 0..MAX_WAITS {
            let result = self.host.call(tool, arguments.clone()).await;
            let answer = result["content"][0]["text"].as_str().expect("a text block");
            let answer: Value = serde_json::from_str(answer).expect("JSON");

            if result["isError"] == true {
                let code = answer["error"]["code"].as_str().expect("a code");
                assert!(text.contains(&format!("fails with `{code}`")), "{tool}: {answer}");
            }

            if answer["status"] != "timed_out" {
                return answer;
            }
        }
        panic!("{tool} is not over after {MAX_WAITS} waits");
    }

    /// Fills values from answers into the arguments. Returns the arguments once for each value.
    fn fill_in(&self, arguments: &str) -> Vec<String> {
        let Some((before, rest)) = arguments.split_once("\"<") else { return vec![arguments.to_owned()] };
        let (path, after) = rest.split_once(">\"").expect("the end of a name");
        let filled = self.values(path).into_iter().map(|value| format!("{before}{value}{after}"));
        filled.flat_map(|arguments| self.fill_in(&arguments)).collect()
    }

    /// Returns the values at `tool.field[].field` in the answers so far.
    fn values(&self, path: &str) -> Vec<Value> {
        let (tool, path) = path.split_once('.').expect("a tool and a path");
        let mut values =
            vec![self.answers.get(tool).unwrap_or_else(|| panic!("{tool} was not called")).clone()];

        for name in path.split('.') {
            let field = name.trim_end_matches("[]").trim_end_matches("[?]");
            values = values.into_iter().map(|value| value[field].clone()).collect();

            if name != field {
                values = values.iter().flat_map(|list| list.as_array().expect("a list").clone()).collect();
            }

            if name.ends_with("[?]") {
                values.retain(self.chooses);
                values.truncate(1);
                assert_eq!(values.len(), 1, "the person finds nothing under {path}");
            }
        }

        values
    }

    fn answer(&self, tool: &str) -> &Value {
        &self.answers[tool]
    }
}
