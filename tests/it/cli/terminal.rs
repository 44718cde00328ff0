//! The built binary in a terminal of this machine. The program `script` provides the terminal.

use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{HANG_LIMIT, binary::program};

/// Runs the binary in a terminal that is `columns` wide. Types each text of `typed` once the terminal has received the text
/// before it. Returns the exit code and what the terminal has received.
pub(super) async fn run_in_terminal(
    columns: u16,
    arguments: &[&str],
    variables: &[(&str, &str)],
    typed: &[(&str, &str)],
) -> (Option<i32>, String) {
    let quoted: Vec<_> = arguments.iter().map(|argument| format!("'{argument}'")).collect();
    // Tests may run as a background job, which ignores SIGINT. Its child processes inherit that.
    let shell = format!(
        "stty -echo rows 40 cols {columns}; exec env --default-signal=INT '{}' {}",
        env!("CARGO_BIN_EXE_tas-mcp"),
        quoted.join(" ")
    );
    let mut command = program("script", &["-qefc", &shell, "/dev/null"], variables);
    let mut child = command.stderr(Stdio::null()).spawn().expect("`script` starts");
    let (mut keyboard, mut screen) =
        (child.stdin.take().expect("an input"), child.stdout.take().expect("an output"));
    let mut received = Vec::new();

    let end = tokio::time::timeout(HANG_LIMIT, async {
        let mut searched = 0;
        for (expected, text) in typed {
            while !contains(&received[searched..], expected) {
                assert!(screen.read_buf(&mut received).await.expect("a terminal") > 0, "no {expected}");
            }
            searched = received.len();
            keyboard.write_all(text.as_bytes()).await.expect("the terminal reads");
        }

        screen.read_to_end(&mut received).await.expect("a terminal");
        child.wait().await.expect("an end")
    });
    let status = end.await.unwrap_or_else(|_| panic!("no end: {}", String::from_utf8_lossy(&received)));

    (status.code(), String::from_utf8(received).expect("UTF-8").replace('\r', ""))
}

fn contains(received: &[u8], text: &str) -> bool {
    received.windows(text.len()).any(|window| window == text.as_bytes())
}
