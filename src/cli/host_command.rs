//! A command of a host that adds or removes a server, and its run.

use std::{
    fmt,
    io::{self, BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use super::next_command::quoted;
use crate::{settings::Settings, text::visible};

/// Time without output after which the end of the program is noticed. A browser that it has opened may keep the output open.
const PAUSE: Duration = Duration::from_millis(100);

/// A command of a host.
pub(super) struct HostCommand {
    /// Name of the program.
    pub(super) program: &'static str,
    pub(super) arguments: Vec<String>,
}

impl HostCommand {
    /// Runs the command with the program in this file. Returns whether it succeeded, and its output, which goes to standard
    /// error while it runs: on standard output is the result of the command of this program.
    ///
    /// # Errors
    /// The program does not start.
    pub(super) fn run(&self, file: &Path) -> io::Result<(bool, String)> {
        let (reader, writer) = io::pipe()?;
        let mut child = Command::new(file)
            .args(&self.arguments)
            // A host may write the value of a variable into its file when it changes an entry that refers to it.
            .env_remove(Settings::KEY_VARIABLE)
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .spawn()?;

        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut lines = BufReader::new(reader).split(b'\n').map_while(io::Result::ok);
            lines.try_for_each(|line| sender.send(line))
        });
        let mut output = String::new();
        loop {
            match lines.recv_timeout(PAUSE) {
                Ok(line) => {
                    let line = format!("{}\n", String::from_utf8_lossy(&line));
                    // If standard error is closed, the program runs on without a reader.
                    drop(write!(anstream::stderr(), "{}", visible(&line)));
                    output.push_str(&line);
                }
                Err(RecvTimeoutError::Timeout) if child.try_wait()?.is_none() => {}
                Err(_) => break,
            }
        }

        Ok((child.wait()?.success(), output))
    }
}

impl fmt::Display for HostCommand {
    /// Writes the command as a user types it.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.program)?;
        self.arguments.iter().try_for_each(|argument| write!(formatter, " {}", quoted(argument)))
    }
}
