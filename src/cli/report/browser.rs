//! Opens a page in the browser of the user.

use std::{
    ffi::OsStr,
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::process::Command;

/// Time in which a launcher that fails has ended. Some launchers run as long as the browser.
const LAUNCH_TIME: Duration = Duration::from_secs(3);

/// The program that opens a file, and its arguments before the path.
const LAUNCHER: (&str, &[&str]) = if cfg!(target_os = "macos") {
    ("open", &[])
} else if cfg!(windows) {
    // `start` of the command interpreter would interpret characters of the path.
    ("rundll32.exe", &["url.dll,FileProtocolHandler"])
} else {
    ("xdg-open", &[])
};

/// Opens the file in the browser.
///
/// # Errors
/// The launcher cannot be started or fails at once.
pub(super) async fn open(path: &Path) -> io::Result<()> {
    let (program, arguments) = LAUNCHER;
    let mut command = Command::new(program);
    command.args(arguments.iter().map(OsStr::new).chain([path.as_os_str()]));
    // A browser in the terminal would replace what it shows.
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());

    let mut launcher = command.spawn()?;
    match tokio::time::timeout(LAUNCH_TIME, launcher.wait()).await {
        Ok(status) if status.as_ref().is_ok_and(ExitStatus::success) => Ok(()),
        Ok(status) => {
            Err(status.err().unwrap_or_else(|| io::Error::other(format!("`{program}` has failed"))))
        }
        // The launcher is still running, so that it has found a browser.
        Err(_) => Ok(()),
    }
}
