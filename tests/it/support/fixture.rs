//! The one fixture of most tests: a sandbox, a server in front of it, and a host of that server.
//!
//! ```ignore
//! let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
//! let Session { clock, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).simulated_time().open().await;
//! ```

use std::sync::Arc;

use tas_mcp::{
    mcp::Server,
    sandbox::{Options, keys},
    settings::Settings,
    tools::dispatcher::Dispatcher,
};
use tempfile::TempDir;

use super::{host::Host, service::Service, time::Simulated};

/// Builds a [`Session`]. Without further calls: a fresh sandbox, the key of the project `demo`, the default tools and
/// real time.
pub(crate) struct Fixture {
    sandbox: Options,
    key: String,
    variables: Vec<(String, String)>,
    time: Time,
    has_files_root: bool,
}

/// The clock of the server.
#[derive(Clone, Copy)]
enum Time {
    Real,
    /// Simulated time that advances the sandbox too.
    Simulated,
    /// Simulated time of the server alone.
    SimulatedAlone,
}

/// What a test works with.
pub(crate) struct Session {
    pub(crate) service: Arc<Service>,
    /// The clock of the server, if the time is simulated.
    pub(crate) clock: Arc<Simulated>,
    /// The files root, if the fixture has one. The directory is removed with this value.
    pub(crate) files_root: Option<TempDir>,
    pub(crate) host: Host,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            // The clock of the sandbox stands still, so that records have the same times in every run of a test.
            sandbox: Options { speed: 0.0, ..Options::default() },
            key: keys::DEMO.to_owned(),
            variables: Vec::new(),
            time: Time::Real,
            has_files_root: false,
        }
    }

    /// Sets the size of the parts of build uploads at the sandbox, in bytes.
    pub(crate) fn part_size(self, part_size: u64) -> Self {
        Self { sandbox: Options { part_size, ..self.sandbox }, ..self }
    }

    /// Sets the name of the test-management system for the sandbox and the server.
    pub(crate) fn tmsys_name(self, name: &str) -> Self {
        let mut fixture = self.variables(&[("TAS_TMSYS_NAME", name)]);
        fixture.sandbox.tmsys_name = name.to_owned();
        fixture
    }

    pub(crate) fn key(self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self }
    }

    /// Adds environment variables. A later value of a variable replaces an earlier one.
    pub(crate) fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        self.variables.extend(owned);
        self
    }

    pub(crate) fn all_tools(self) -> Self {
        self.variables(&[("TAS_TOOLSETS", "all")])
    }

    /// Lets pauses of the server end at once and advance the clock of the sandbox.
    pub(crate) fn simulated_time(self) -> Self {
        Self { time: Time::Simulated, ..self }
    }

    /// Lets pauses of the server end at once, while the clock of the sandbox stands still.
    pub(crate) fn simulated_time_alone(self) -> Self {
        Self { time: Time::SimulatedAlone, ..self }
    }

    /// Sets the files root to a new temporary directory.
    pub(crate) fn files_root(self) -> Self {
        Self { has_files_root: true, ..self }
    }

    /// Starts the sandbox and the server, and initializes the session.
    pub(crate) async fn open(self) -> Session {
        let mut session = self.connect().await;
        session.host.initialize("2025-11-25").await;
        session
    }

    /// Starts the sandbox and the server. The host has sent nothing yet.
    pub(crate) async fn connect(mut self) -> Session {
        let files_root = self.has_files_root.then(|| tempfile::tempdir().expect("a directory"));
        if let Some(directory) = &files_root {
            self = self.variables(&[("TAS_FILES_ROOT", directory.path().to_str().expect("UTF-8"))]);
        }

        let service = Arc::new(Service::with(self.sandbox).await);
        let variables: Vec<_> = self.variables.iter().map(|(name, value)| (&**name, &**value)).collect();
        let settings = service.settings(&self.key, &variables);
        let clock = match self.time {
            Time::Simulated => Simulated::of(&service),
            Time::Real | Time::SimulatedAlone => Simulated::alone(),
        };
        let host = match self.time {
            Time::Real => Host::to(Server::from_settings(&settings)),
            Time::Simulated | Time::SimulatedAlone => Host::to(server_with(&settings, &clock)),
        };

        Session { service, clock, files_root, host }
    }
}

/// A server with these settings whose time is `clock`.
pub(crate) fn server_with(settings: &Settings, clock: &Arc<Simulated>) -> Server {
    let dispatcher = Dispatcher::new(settings.tools_config()).with_clock(clock.clone());
    Server::new(dispatcher, settings)
}
