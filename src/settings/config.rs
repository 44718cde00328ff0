//! The configuration of the lower layers, or the failure that lists every problem of the settings.

use std::path::PathBuf;

use super::{
    Settings,
    definition::{API_KEY, API_KEY_FILE, BASE_URL, Confirm, FILES_ROOT, KNOWLEDGE_URL, SETTINGS},
    http::HttpSettings,
    mask_key,
    problem::{SettingProblem, not_configured, unusable},
};
use crate::{
    call::CallConfig,
    client::{AddressPolicy, ClientConfig, HostUrl, KeySource, StoredKey},
    failure::{Code, Failure},
    home_path::state_directory,
    tools::{context::ToolsConfig, upload::FilesConfig},
};

/// Settings that only some tools need: a problem with one of them disables these tools.
const FOR_SOME_TOOLS: [&str; 2] = [KNOWLEDGE_URL, FILES_ROOT];

impl Settings {
    /// Returns the configuration of the tools and of the layers below them, or one `not_configured` failure that lists every problem.
    pub fn tools_config(&self) -> Result<ToolsConfig, Failure> {
        let problems = self.problems_of_all_tools(self.accounts.is_none());
        let config = self.build_tools_config(|base_url| self.stored_key(base_url));

        config.filter(|_| problems.is_empty()).ok_or_else(|| not_configured(&problems))
    }

    /// Returns the configuration of the HTTP server, to which each client sends its own key, and of the tools that it offers, or one
    /// `not_configured` failure that lists every problem.
    pub fn http_config(&self) -> Result<(HttpSettings, ToolsConfig), Failure> {
        let mut problems = self.problems_of_all_tools(false);
        let http = self.parse_http(&mut problems);
        let config = self.build_tools_config(|_| Some(KeySource::EachCall)).filter(|_| problems.is_empty());
        let config = config.ok_or_else(|| unusable("the server cannot start", &problems))?;

        if http.exposes_key() && self.has_key() {
            let message = "the API key of the settings would serve everybody who reaches the server: remove the key, so that each client sends its own, or listen on a loopback address without a public URL";
            return Err(Failure::new(Code::NotConfigured, message));
        }

        Ok((http, config))
    }

    pub(super) fn parse_http(&self, problems: &mut Vec<SettingProblem>) -> HttpSettings {
        let (http, mut found) = HttpSettings::parse(&self.values);
        mask_key(&mut found, self.server.key());
        problems.append(&mut found);
        http
    }

    /// Returns the problems that disable all tools, in the order of the documentation.
    fn problems_of_all_tools(&self, needs_key: bool) -> Vec<SettingProblem> {
        let is_of_all = |problem: &&SettingProblem| !FOR_SOME_TOOLS.contains(&problem.setting);
        let problems = self.file_problem.iter().chain(&self.problems);
        let mut problems: Vec<_> = problems.filter(is_of_all).cloned().collect();
        if !self.values.contains(BASE_URL) {
            problems.push(SettingProblem::new(&self.values, BASE_URL, "is not set"));
        }
        if needs_key && !self.has_key() {
            let withheld = self.values.withheld_key.as_deref();
            let reason =
                withheld.unwrap_or("is not set, and neither is `TAS_API_KEY_FILE` or `TAS_API_KEY_COMMAND`");
            problems.push(SettingProblem::new(&self.values, API_KEY, reason));
        }

        problems.sort_by_key(|problem| SETTINGS.iter().position(|one| one.name() == problem.setting));
        problems
    }

    fn stored_key(&self, base_url: &HostUrl) -> Option<KeySource> {
        let hosts = [base_url].into_iter().chain(&self.server().knowledge_url);
        let (store, withheld) = (self.accounts.clone()?, self.values.withheld_key.clone());
        Some(KeySource::stored(StoredKey::new(store, self.account().to_owned(), hosts, withheld)))
    }

    fn for_some_tools<T: Clone>(&self, name: &str, value: Option<&T>) -> Result<Option<T>, Failure> {
        let problem = self.problems.iter().find(|problem| problem.setting == name);
        problem.map_or(Ok(value.cloned()), |problem| Err(not_configured(std::slice::from_ref(problem))))
    }

    /// Returns the configuration with the key of the settings, or else the key of `other_key`.
    fn build_tools_config(
        &self,
        other_key: impl FnOnce(&HostUrl) -> Option<KeySource>,
    ) -> Option<ToolsConfig> {
        let server = self.server();
        let base_url = server.base_url.clone()?;
        let key = server.key().cloned().or_else(|| other_key(&base_url))?;
        let address_policy = AddressPolicy::for_service(&base_url);

        let client = ClientConfig {
            base_url,
            knowledge_url: self.for_some_tools(KNOWLEDGE_URL, server.knowledge_url.as_ref()),
            key,
            ca_file: server.ca_file.clone(),
            timeout: server.timeout_s,
        };
        let call = CallConfig {
            client,
            project: server.project.clone(),
            projects: server.projects.clone(),
            tmsys_name: server.tmsys_name.clone(),
            max_reply_chars: server.max_reply_chars,
            asks_first: server.confirm == Confirm::Ask,
            read_only: self.is_read_only(),
        };
        let default_state = || Some(state_directory()?.join("tas-mcp"));
        let files = FilesConfig {
            root: self.for_some_tools(FILES_ROOT, server.files_root.as_ref()).transpose(),
            state: server.state_dir.clone().or_else(default_state),
            ca_file: server.ca_file.clone(),
            origin: self.build_origin.clone(),
            timing: self.upload_timing.clone(),
            address_policy,
            key_file: self.values.text(API_KEY_FILE).map(PathBuf::from),
        };

        Some(ToolsConfig { call, files })
    }
}
