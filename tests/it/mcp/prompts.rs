//! Prompts: what is listed, what they say, and where following them leads.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use tas_mcp::{mcp::Server, tools::dispatcher::Dispatcher};

use crate::support::{host::Host, service::Service, time::Simulated};

mod arguments;
mod following;
mod lists;

/// Most waits for one start.
const MOST_WAITS: usize = 100;

/// A service whose time passes when somebody waits, and a host in front of it.
struct Scene {
    service: Arc<Service>,
    host: Host,
    /// The last answer of each tool that was called for a prompt.
    answers: BTreeMap<String, Value>,
    /// Which of several records the person takes.
    picks: fn(&Value) -> bool,
}

/// A call that a prompt asks for, as it is written.
struct Step {
    tool: String,
    arguments: String,
}

async fn open(key: &str, more: &[(&str, &str)]) -> Scene {
    let service = Arc::new(Service::start().await);
    let settings = service.settings(key, more);
    let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(Simulated::of(&service));
    let mut host = Host::to(Server::new(dispatcher, &settings));
    host.initialize("2025-11-25").await;
    Scene { service, host, answers: BTreeMap::new(), picks: |_| true }
}

/// The text of a prompt.
async fn text(host: &mut Host, prompt: &str, arguments: Value) -> String {
    let answer = host.request("prompts/get", json!({"name": prompt, "arguments": arguments})).await;
    let messages = answer["result"]["messages"].as_array().unwrap_or_else(|| panic!("{prompt}: {answer}"));
    assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")));
    messages[0]["content"]["text"].as_str().expect("a text").to_owned()
}

/// The numbered lines of a text.
fn steps(text: &str) -> Vec<Step> {
    let step = |line: &str| {
        let (number, call) = line.split_once(". ")?;
        number.parse::<usize>().ok()?;
        let (tool, arguments) = call.split_once(' ')?;
        Some(Step { tool: tool.to_owned(), arguments: arguments.to_owned() })
    };
    text.lines().filter_map(step).collect()
}

impl Scene {
    /// Gets a prompt and makes its calls, one after the other, with the arguments that stand there.
    async fn follow(&mut self, prompt: &str, arguments: Value) -> Vec<String> {
        let text = text(&mut self.host, prompt, arguments).await;
        let mut called = Vec::new();

        for step in steps(&text) {
            for arguments in self.filled_in(&step.arguments) {
                let arguments: Value = serde_json::from_str(&arguments).expect("JSON");
                let answer = self.made(&text, &step.tool, arguments).await;
                self.answers.insert(step.tool.clone(), answer);
            }
            called.push(step.tool);
        }

        called
    }

    /// The answer of a call, which is repeated while it waits in vain; a failure where the text is prepared for it.
    async fn made(&mut self, text: &str, tool: &str, arguments: Value) -> Value {
        for _ in 0..MOST_WAITS {
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
        panic!("{tool} is not over after {MOST_WAITS} waits");
    }

    /// The arguments with the values that come from answers: once for each value.
    fn filled_in(&self, arguments: &str) -> Vec<String> {
        let Some((before, rest)) = arguments.split_once("\"<") else { return vec![arguments.to_owned()] };
        let (path, after) = rest.split_once(">\"").expect("the end of a name");
        let filled = self.values(path).into_iter().map(|value| format!("{before}{value}{after}"));
        filled.flat_map(|arguments| self.filled_in(&arguments)).collect()
    }

    /// The values at `tool.field[].field` of the answers so far.
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
                values.retain(self.picks);
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
