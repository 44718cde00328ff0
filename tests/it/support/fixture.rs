//! The one fixture of most tests: a service, a server in front of it, and a host of that server.
//!
//! ```ignore
//! let Session { service, mut host, .. } = Fixture::new().all_tools().open().await;
//! let Session { clock, mut host, .. } = Fixture::new().key(keys::ORGANIZATION).simulated_time().open().await;
//! let mut session = Fixture::new().simulated_time_alone().open_with(stub).await;
//! ```

use std::{path::Path, sync::Arc};

use tas_mcp::{
    failure::Failure,
    mcp::Server,
    sandbox::{Options, keys},
    settings::Settings,
    tools::{context::CallerWithFiles, upload::UploadTiming},
};
use tempfile::TempDir;

use super::{
    host::Host,
    service::{Service, still_sandbox},
    stub::Stub,
    time::SimulatedClock,
};

/// Builds a [`Session`]. Without further calls: a fresh sandbox, the key of the project `demo`, the default tools and
/// real time.
pub(crate) struct Fixture {
    key: String,
    variables: Vec<(String, String)>,
    sandbox: Options,
    time: Time,
    upload_timing: Option<UploadTiming>,
    has_directories: bool,
}

/// The clock of the server.
enum Time {
    Real,
    /// Simulated time that advances the sandbox too.
    Simulated,
    /// Simulated time of the server alone.
    SimulatedBy(Arc<SimulatedClock>),
}

/// What a test works with. `S` is the service: a sandbox, or what the test answers itself.
pub(crate) struct Session<S = Arc<Service>> {
    pub(crate) service: S,
    /// The clock of the server, if the time is simulated.
    pub(crate) clock: Arc<SimulatedClock>,
    /// The files root and the state directory, if the fixture has them. They are removed with this value.
    directories: Option<[TempDir; 2]>,
    pub(crate) host: Host,
    fixture: Fixture,
}

/// A service that a server can be configured for.
pub(crate) trait Backend {
    /// Returns settings with this key, and these variables.
    fn settings(&self, key: &str, variables: &[(&str, &str)]) -> Settings;

    /// Returns a simulated clock that the clock of the service follows, if the service has one.
    fn clock(&self) -> Arc<SimulatedClock> {
        Arc::default()
    }
}

impl Backend for Arc<Service> {
    fn settings(&self, key: &str, variables: &[(&str, &str)]) -> Settings {
        Service::settings(self, key, variables)
    }

    fn clock(&self) -> Arc<SimulatedClock> {
        SimulatedClock::with_service(self)
    }
}

impl Backend for Stub {
    fn settings(&self, key: &str, variables: &[(&str, &str)]) -> Settings {
        Self::settings(self, key, variables)
    }
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self {
            key: keys::DEMO.to_owned(),
            variables: Vec::new(),
            sandbox: still_sandbox(),
            time: Time::Real,
            upload_timing: None,
            has_directories: false,
        }
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

    pub(crate) fn sandbox(self, sandbox: Options) -> Self {
        Self { sandbox, ..self }
    }

    /// Lets pauses of the server end at once and advance the clock of the sandbox.
    pub(crate) fn simulated_time(self) -> Self {
        Self { time: Time::Simulated, ..self }
    }

    /// Lets pauses of the server end at once, while the clock of the sandbox stands still.
    pub(crate) fn simulated_time_alone(self) -> Self {
        self.simulated_time_by(Arc::default())
    }

    /// Sets the clock of the server, for a service that has to know the clock before the session is opened.
    pub(crate) fn simulated_time_by(self, clock: Arc<SimulatedClock>) -> Self {
        Self { time: Time::SimulatedBy(clock), ..self }
    }

    /// Sets the pauses and time limits of uploads.
    pub(crate) fn upload_timing(self, timing: UploadTiming) -> Self {
        Self { upload_timing: Some(timing), ..self }
    }

    /// Sets the files root and the state directory to new temporary directories.
    pub(crate) fn files_root(self) -> Self {
        Self { has_directories: true, ..self }
    }

    /// Starts the sandbox and the server, and initializes the session.
    pub(crate) async fn open(self) -> Session {
        let mut session = self.connect().await;
        session.host.initialize("2025-11-25").await;
        session
    }

    /// Starts the sandbox and the server. The host has sent nothing yet.
    pub(crate) async fn connect(self) -> Session {
        let service = Arc::new(Service::with(self.sandbox.clone()).await);
        self.connect_with(service)
    }

    /// Starts the server in front of `service`, and initializes the session.
    pub(crate) async fn open_with<S: Backend>(self, service: S) -> Session<S> {
        let mut session = self.connect_with(service);
        session.host.initialize("2025-11-25").await;
        session
    }

    fn connect_with<S: Backend>(mut self, service: S) -> Session<S> {
        let directories = self.has_directories.then(|| {
            ["TAS_FILES_ROOT", "TAS_STATE_DIR"].map(|name| {
                let directory = tempfile::tempdir().expect("a directory");
                let path = directory.path().to_str().expect("UTF-8");
                self.variables.push((name.to_owned(), path.to_owned()));
                directory
            })
        });

        let clock = match &self.time {
            Time::Real => Arc::default(),
            Time::Simulated => service.clock(),
            Time::SimulatedBy(clock) => clock.clone(),
        };
        let settings = self.settings(&service, &self.key, &[]);
        let host = Host::to(Server::new(self.tools(&settings, &clock), &settings));

        Session { service, clock, directories, host, fixture: self }
    }

    fn settings(&self, service: &impl Backend, key: &str, more: &[(&str, &str)]) -> Settings {
        let own = self.variables.iter().map(|(name, value)| (&**name, &**value));
        let variables: Vec<_> = own.chain(more.iter().copied()).collect();
        let settings = service.settings(key, &variables);

        match &self.upload_timing {
            Some(timing) => settings.with_upload_timing(timing.clone()),
            None => settings,
        }
    }

    fn tools(&self, settings: &Settings, clock: &Arc<SimulatedClock>) -> Result<CallerWithFiles, Failure> {
        let tools = settings.tools_config().map(CallerWithFiles::new)?;

        Ok(match &self.time {
            Time::Real => tools,
            Time::Simulated | Time::SimulatedBy(_) => tools.with_clock(clock.clone()),
        })
    }
}

impl<S> Session<S> {
    /// Returns the path of the files root.
    pub(crate) fn root(&self) -> &Path {
        self.directories.as_ref().expect("a fixture with a files root")[0].path()
    }

    /// Returns the path of the state directory.
    pub(crate) fn state(&self) -> &Path {
        self.directories.as_ref().expect("a fixture with a files root")[1].path()
    }
}

impl<S: Backend> Session<S> {
    /// Returns a caller with the settings and the clock of this session.
    pub(crate) fn tools(&self) -> CallerWithFiles {
        let settings = self.fixture.settings(&self.service, &self.fixture.key, &[]);
        self.fixture.tools(&settings, &self.clock).expect("usable settings")
    }

    /// Starts another server for the service of this session, with another key and further variables, and initializes a
    /// session of another host.
    pub(crate) async fn another_host(&self, key: &str, variables: &[(&str, &str)]) -> Host {
        let settings = self.fixture.settings(&self.service, key, variables);
        let mut host = Host::to(Server::new(self.fixture.tools(&settings, &self.clock), &settings));
        host.initialize("2025-11-25").await;
        host
    }
}
