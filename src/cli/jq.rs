//! Expressions of `jq`, with which `--jq` selects and changes a result.

use jaq_core::{
    Compiler, Ctx, Exn, Filter, Vars,
    data::JustLut,
    load::{Arena, File, Loader, import},
};
use jaq_json::{Val, read};
use serde_json::Value;

use crate::failure::{Code, Failure};

/// A function that reaches beyond the result: variables may contain secrets.
const REFUSED: &str = "env";

/// Formats that the library has in a part that reads files.
const FORMATS: &str = r#"
def @csv: [.[] | if . == null then "" elif . >= "" then "\"\(gsub("\""; "\"\""))\"" else tostring end] | join(",");
def @tsv: [.[] | if . == null then "" else tostring | gsub("\\\\"; "\\\\") | gsub("\t"; "\\t") | gsub("\n"; "\\n") end] | join("\t");
"#;

/// An expression that can be evaluated.
pub(super) struct Expression {
    text: String,
    filter: Filter<JustLut<Val>>,
}

impl Expression {
    /// Compiles an expression.
    ///
    /// # Errors
    /// `invalid_arguments` with the place at which the expression is invalid.
    pub(super) fn parse(text: &str) -> Result<Self, Failure> {
        let definitions = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
        let functions = jaq_core::funs().chain(jaq_std::funs()).chain(jaq_json::funs());
        let functions = functions.filter(|(name, ..)| *name != REFUSED);
        let formats = jaq_core::load::parse(FORMATS, |parser| parser.defs()).unwrap_or_default();
        let definitions = definitions.chain(formats);

        let arena = Arena::default();
        let modules = Loader::new(definitions).load(&arena, File { code: text, path: () });
        // No file is read for an expression. Data that is imported and not read would end the process.
        let modules =
            modules.and_then(|modules| import(&modules, |_| Err("not read".to_owned())).map(|()| modules));
        let modules = modules.map_err(|errors| {
            let places = errors.iter().map(|(_, error)| load_error(error));
            invalid(text, &places.collect::<Vec<_>>().join("; "))
        })?;
        let filter = Compiler::default().with_funs(functions).compile(modules).map_err(|errors| {
            let undefined = errors.iter().flat_map(|(_, errors)| errors);
            let undefined = undefined.map(|(name, kind)| format!("undefined {} `{name}`", kind.as_str()));
            invalid(text, &undefined.collect::<Vec<_>>().join("; "))
        })?;

        Ok(Self { text: text.to_owned(), filter })
    }

    /// Passes each output for `input` to `print`: a text without quotes, anything else as JSON.
    ///
    /// # Errors
    /// `invalid_arguments` if the expression does not fit the input; an error of `print`.
    pub(super) fn evaluate<E: From<Failure>>(
        &self,
        input: &Value,
        mut print: impl FnMut(String) -> Result<(), E>,
    ) -> Result<(), E> {
        let input = read::parse_single(input.to_string().as_bytes());
        let input = input.map_err(|error| invalid(&self.text, &error.to_string()))?;
        let context = Ctx::<JustLut<Val>>::new(&self.filter.lut, Vars::new([]));

        for output in self.filter.id.run((context, input)) {
            let output = match output.map_err(Exn::get_err) {
                Ok(output) => output,
                Err(Ok(error)) => return Err(invalid(&self.text, &error.to_string()).into()),
                // `halt` ends the expression.
                Err(Err(_)) => break,
            };
            print(match &output {
                Val::TStr(text) => String::from_utf8_lossy(text).into_owned(),
                other => other.to_string(),
            })?;
        }

        Ok(())
    }
}

fn load_error(error: &jaq_core::load::Error<&str>) -> String {
    use jaq_core::load::Error;

    // An empty rest is the end of the expression.
    let at = |rest: &str| if rest.is_empty() { "its end".to_owned() } else { format!("`{rest}`") };
    let reasons: Vec<_> = match error {
        Error::Io(files) => files.iter().map(|(file, _)| format!("`{file}` cannot be loaded")).collect(),
        Error::Lex(errors) => {
            errors.iter().map(|(what, rest)| format!("expected {} at {}", what.as_str(), at(rest))).collect()
        }
        Error::Parse(errors) => {
            errors.iter().map(|(what, rest)| format!("expected {} at {}", what.as_str(), at(rest))).collect()
        }
    };
    reasons.join("; ")
}

fn invalid(text: &str, reason: &str) -> Failure {
    Failure::new(Code::InvalidArguments, format!("`--jq '{text}'`: {reason}"))
        .hint("write an expression as for jq, such as `.data[].id`; `--json` shows what it is applied to")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn evaluate(text: &str) -> Result<Vec<String>, Failure> {
        let input = json!({"data": [{"id": "a", "size": 734_003_200}, {"id": "b", "size": 1.5}]});
        let mut outputs = Vec::new();
        Expression::parse(text)?.evaluate(&input, |output| {
            outputs.push(output);
            Ok::<_, Failure>(())
        })?;
        Ok(outputs)
    }

    #[test]
    fn an_expression_selects_texts_without_quotes_and_other_values_as_json() {
        for (text, expected) in [
            (".data[].id", &["a", "b"][..]),
            (".data[] | select(.size > 2)", &[r#"{"id":"a","size":734003200}"#]),
            (r#".data | map("\(.id)=\(.size)") | join(" ")"#, &["a=734003200 b=1.5"]),
            (
                r#".data[] | [.id, .size, null, "x\"\ty"] | @csv"#,
                &["\"a\",734003200,,\"x\"\"\ty\"", "\"b\",1.5,,\"x\"\"\ty\""],
            ),
            (r#".data[0] | [.id, .size, null, "x\"\ty"] | @tsv"#, &["a\t734003200\t\tx\"\\ty"]),
            (r#".data[].id | if . == "b" then halt end, test("A"; "i")"#, &["a", "true"]),
        ] {
            assert_eq!(
                evaluate(text).as_deref(),
                Ok(&expected.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn an_expression_that_is_invalid_or_does_not_fit_is_named() {
        for (text, reason) in [
            (".data[", "expected "),
            ("nothing(1)", "undefined filter `nothing`"),
            ("env", "undefined filter `env`"),
            ("$ENV.TAS_API_KEY", "undefined variable"),
            ("include \"/etc/passwd\"; .", "`/etc/passwd` cannot be loaded"),
            ("import \"/etc/passwd\" as $text; $text", "`/etc/passwd` cannot be loaded"),
            (".data.id", "cannot index"),
        ] {
            let failure = evaluate(text).expect_err(text);
            assert!(failure.message.contains(reason), "{text}: {}", failure.message);
        }
    }
}
