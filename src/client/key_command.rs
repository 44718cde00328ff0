//! A command that prints the API key, such as the client of a password manager.

use std::{fmt, io, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    process::Command,
};

use super::key::ApiKey;
use crate::text::trimmed;

/// Time limit of the command. A password manager may ask the user for permission.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Maximum size of what the command prints, in bytes. A key is far shorter.
const MAX_OUTPUT_BYTES: u64 = 4 * 1024;

/// A command line that prints the key. It runs without a shell.
#[derive(Clone)]
pub(super) struct KeyCommand {
    program: String,
    arguments: Vec<String>,
}

impl fmt::Debug for KeyCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The words are left out, because the key may have been set in place of a command.
        formatter.debug_struct("KeyCommand").finish_non_exhaustive()
    }
}

impl KeyCommand {
    /// Splits a command line into words as a shell does. Nothing is expanded.
    ///
    /// # Errors
    /// Describes why the text is no command line, without showing it.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let words = shlex::split(text).ok_or("has a quotation mark or backslash without its counterpart")?;
        let mut words = words.into_iter();
        let program = words.next().filter(|program| !program.is_empty()).ok_or("names no program")?;

        Ok(Self { program, arguments: words.collect() })
    }

    /// Runs the command, and returns the key that it prints. The command is killed after [`TIME_LIMIT`].
    ///
    /// # Errors
    /// Describes what went wrong, without anything that the command printed.
    pub(super) async fn run(&self) -> Result<ApiKey, String> {
        let too_slow = || Err(format!("has not ended within {} s, and was stopped", TIME_LIMIT.as_secs()));
        let output = tokio::time::timeout(TIME_LIMIT, self.output()).await.unwrap_or_else(|_| too_slow())?;

        let text = std::str::from_utf8(&output).map_err(|_| "prints text that is not UTF-8")?;
        let text = trimmed(text);
        if text.is_empty() {
            return Err("prints nothing".to_owned());
        }
        if text.lines().count() > 1 {
            return Err("prints more than one line: it must print only the key".to_owned());
        }

        ApiKey::parse(text).map_err(|problem| format!("prints a text that {problem}"))
    }

    /// Returns what the command prints. If this future is dropped, the command is killed.
    async fn output(&self) -> Result<Vec<u8>, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).kill_on_drop(true);
        // Standard error is not shown, because it may contain secrets.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());

        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        let printed = read_output(child.stdout.take()).await?;
        let status = child.wait().await.map_err(|error| format!("cannot be waited for: {error}"))?;

        match status.code() {
            Some(0) => Ok(printed),
            Some(code) => Err(format!("fails with exit code {code}")),
            None => Err("was ended by a signal".to_owned()),
        }
    }
}

/// Reads the output to its end, unless it is too long for a key.
async fn read_output(output: Option<impl AsyncRead + Unpin>) -> Result<Vec<u8>, String> {
    let mut printed = Vec::new();
    if let Some(output) = output {
        let read = output.take(MAX_OUTPUT_BYTES + 1).read_to_end(&mut printed).await;
        read.map_err(|error| format!("prints what cannot be read: {error}"))?;
    }
    if u64::try_from(printed.len()).is_ok_and(|length| length > MAX_OUTPUT_BYTES) {
        return Err(format!("prints more than {MAX_OUTPUT_BYTES} bytes, which cannot be a key"));
    }

    Ok(printed)
}

fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "names a program that does not exist".to_owned(),
        _ => format!("names a program that cannot be started: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[tokio::test]
    async fn the_output_of_a_command_is_the_key_or_a_reason_without_it() {
        for (script, expected) in [
            ("echo ' svc_planted '", None),
            ("echo svc_planted >&2; exit 3", Some("fails with exit code 3")),
            ("kill -9 $$", Some("was ended by a signal")),
            ("printf '\\357\\273\\277svc_planted\\r\\n'", None),
            ("true", Some("prints nothing")),
            (
                "printf 'svc_planted\\nsvc_planted'",
                Some("prints more than one line: it must print only the key"),
            ),
            (
                "echo svc planted",
                Some(
                    "prints a text that has characters that no key has (a line break, a space or a control character?)",
                ),
            ),
            ("printf '\\377'", Some("prints text that is not UTF-8")),
            ("exec yes svc_planted", Some("prints more than 4096 bytes, which cannot be a key")),
        ] {
            let command =
                KeyCommand { program: "sh".to_owned(), arguments: vec!["-c".to_owned(), script.to_owned()] };
            let failure = command.run().await.err();

            assert_eq!(failure.as_deref(), expected, "{script}");
        }
    }
}
