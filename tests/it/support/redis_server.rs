//! A Redis server as a child process.

use std::process::Stdio;

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, copy_bidirectional},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
    sync::watch,
};
use uuid::Uuid;

/// Password of the servers.
pub(crate) const PASSWORD: &str = "planted-password";

/// A running Redis server, which ends with this value.
pub(crate) struct RedisServer {
    process: Child,
    port: u16,
    arguments: Vec<String>,
    /// The certificate of a server with TLS, and its key.
    certificate: Option<TempDir>,
}

impl RedisServer {
    /// Starts a server on a free port. Returns `None` if the program is not installed, which CI does not allow.
    pub(crate) async fn start() -> Option<Self> {
        let port = free_port().await;
        Self::launched(port, &["--port", &port.to_string()], None).await
    }

    /// Starts a server that accepts only connections with TLS.
    pub(crate) async fn start_with_tls() -> Option<Self> {
        let port = free_port().await;
        let directory = tempfile::tempdir().expect("a directory");
        let certified = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
        let [certificate, key] =
            [("certificate.pem", certified.cert.pem()), ("key.pem", certified.signing_key.serialize_pem())]
                .map(|(name, pem)| {
                    let path = directory.path().join(name);
                    std::fs::write(&path, pem).expect("a writable file");
                    path.to_str().expect("UTF-8").to_owned()
                });
        let port_text = port.to_string();
        let arguments = [
            "--port",
            "0",
            "--tls-port",
            &port_text,
            "--tls-auth-clients",
            "no",
            "--tls-cert-file",
            &certificate,
            "--tls-key-file",
            &key,
            "--tls-ca-cert-file",
            &certificate,
        ];

        Self::launched(port, &arguments, Some(directory)).await
    }

    async fn launched(port: u16, arguments: &[&str], certificate: Option<TempDir>) -> Option<Self> {
        let memory_only = ["--bind", "127.0.0.1", "--requirepass", PASSWORD, "--save", ""];
        let arguments: Vec<_> = arguments.iter().chain(&memory_only).map(|&word| word.to_owned()).collect();

        let process = launch(&arguments).await;
        assert!(
            process.is_some() || may_skip(),
            "redis-server is not installed; with CI set nothing is skipped"
        );

        Some(Self { process: process?, port, arguments, certificate })
    }

    /// Returns the address with the password.
    pub(crate) fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "rediss" } else { "redis" };
        format!("{scheme}://:{PASSWORD}@127.0.0.1:{}", self.port)
    }

    /// Returns the path of the certificate of a server with TLS.
    pub(crate) fn certificate(&self) -> String {
        let directory = self.certificate.as_ref().expect("a server with TLS");
        directory.path().join("certificate.pem").to_str().expect("UTF-8").to_owned()
    }

    /// Returns the address of the server behind `link`.
    pub(crate) fn url_behind(&self, link: &Link) -> String {
        self.url().replace(&format!(":{}", self.port), &format!(":{}", link.port))
    }

    /// Ends the server. Its values are lost.
    pub(crate) async fn stop(&mut self) {
        self.process.kill().await.expect("an end");
    }

    /// Starts the server again on the same port.
    pub(crate) async fn restart(&mut self) {
        self.process = launch(&self.arguments).await.expect("the program was started before");
    }
}

/// Returns whether a test may be skipped, and says that it is.
#[expect(clippy::print_stderr, reason = "the developer sees why a test did nothing")]
fn may_skip() -> bool {
    eprintln!("skipped: redis-server is not installed");
    #[expect(clippy::disallowed_methods, reason = "a switch of the tests, not a setting")]
    std::env::var_os("CI").is_none()
}

/// Returns a port that nobody uses. It lies below the ports that systems give to connections, because one of the other tests
/// could get such a port before the server takes it.
async fn free_port() -> u16 {
    loop {
        let random = u16::try_from(Uuid::now_v7().as_u128() % 20_000).expect("a small number");
        let port = 10_000 + random;
        if TcpListener::bind(("127.0.0.1", port)).await.is_ok() {
            return port;
        }
    }
}

/// Starts a server, and waits until it accepts connections. Returns `None` if the program is not installed.
async fn launch(arguments: &[String]) -> Option<Child> {
    let mut command = Command::new("redis-server");
    command.args(arguments).stdout(Stdio::piped()).stdin(Stdio::null()).kill_on_drop(true);
    let mut process = command.spawn().ok()?;

    let mut lines = BufReader::new(process.stdout.take().expect("an output")).lines();
    while let Some(line) = lines.next_line().await.expect("UTF-8") {
        if line.contains("Ready to accept connections") {
            // The server writes on, so that the pipe must stay open.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Some(process);
        }
    }

    panic!("redis-server ended: another process may use its port ({arguments:?})");
}

/// A way to a server that can be interrupted.
pub(crate) struct Link {
    port: u16,
    is_open: watch::Sender<bool>,
}

impl Link {
    /// Opens a way to `server`.
    pub(crate) async fn to(server: &RedisServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let (is_open, state) = watch::channel(true);
        let target = server.port;

        tokio::spawn(async move {
            while let Ok((mut client, _)) = listener.accept().await {
                let mut state = state.clone();
                tokio::spawn(async move {
                    let mut server = TcpStream::connect(("127.0.0.1", target)).await.expect("the server");
                    tokio::select! {
                        _ = copy_bidirectional(&mut client, &mut server) => {}
                        _ = state.wait_for(|is_open| !is_open) => {}
                    }
                });
            }
        });

        Self { port, is_open }
    }

    /// Closes all connections and refuses new ones, or passes new ones on to the store again.
    pub(crate) fn set_open(&self, is_open: bool) {
        self.is_open.send_replace(is_open);
    }
}
