//! Builds the configuration of each lower layer from the values.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    definitions::{
        API_KEY_FILE, BASE_URL, CA_FILE, CONFIRM, FILES_ROOT, FIRST_PROFILE, KNOWLEDGE_URL, LOG, LOG_FORMAT,
        MAX_REPLY_CHARS, PROFILE, PROJECT_ID, PROJECTS, READ_ONLY, STATE_DIR, TIMEOUT_S, TMSYS_NAME,
        TOOLSETS,
    },
    http::{HttpSettings, http_settings},
    parse,
    parser::SettingParser,
    problem::SettingProblem,
    values::Values,
};
use crate::{
    call::CallConfig,
    client::{AddressPolicy, ClientConfig, HostUrl, KeySource, KeyStore, StoredKey},
    tools::{
        config::ToolsConfig,
        files::FilesRoot,
        selection::Selection,
        upload::{FilesConfig, UploadTiming, provenance::CiJob},
    },
};

/// Default time limit of one request.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// Default maximum length of a reply, in characters. Hosts cut or refuse longer replies.
pub(super) const DEFAULT_MAX_REPLY_CHARS: usize = 20_000;

/// Default word for the test-management system.
pub(super) const DEFAULT_TMSYS_NAME: &str = "tmsys";

/// What the settings are parsed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Calls of one caller, with the key of the settings.
    OneCaller,
    /// The HTTP server, to which each client sends its own key.
    Http,
}

/// Where the key of the settings comes from.
enum KeyChoice {
    Source(Box<KeySource>),
    /// The key that is stored for the account.
    Account(KeyStore),
}

/// What the values of the settings result in.
pub(super) struct ParsedSettings {
    /// The configuration; `None` if a problem disables all tools.
    pub(super) config: Option<ToolsConfig>,
    /// The configuration of the HTTP server, if it is wanted and usable.
    pub(super) http: Option<HttpSettings>,
    /// Problems that disable all tools.
    pub(super) problems: Vec<SettingProblem>,
    /// Problems that disable only the tools that need the setting.
    pub(super) limited_problems: Vec<SettingProblem>,
}

/// Builds the configuration of the tools and of the layers below them.
pub(super) fn parse_settings(
    values: &Values,
    ci_job: Option<&CiJob>,
    upload_timing: &UploadTiming,
    purpose: Purpose,
    accounts: Option<&KeyStore>,
) -> ParsedSettings {
    let mut parser = SettingParser::new(values);
    // The key comes first, because it is masked in the texts of the problems.
    let key = key_choice(&mut parser, purpose, accounts);
    let ca_file = parser.optional(&CA_FILE, parse::certificate_file);

    let client = client_config(&mut parser, key, ca_file.clone());
    let call = call_config(&mut parser, client);
    let files = files_config(&mut parser, ca_file.clone(), ci_job, upload_timing);
    check_other_settings(&mut parser);
    let http = if purpose == Purpose::Http { http_settings(&mut parser, ca_file.as_ref()) } else { None };

    let config = call.filter(|_| parser.is_ok()).map(|call| {
        let address_policy = AddressPolicy::for_service(&call.client.base_url);
        ToolsConfig { files: FilesConfig { address_policy, ..files }, call }
    });
    let (problems, limited_problems) = parser.into_problems();

    ParsedSettings { config, http, problems, limited_problems }
}

/// Returns where the key comes from.
fn key_choice(
    parser: &mut SettingParser<'_>,
    purpose: Purpose,
    accounts: Option<&KeyStore>,
) -> Option<KeyChoice> {
    match (parser.values().key_setting(), purpose, accounts) {
        (Some(setting), _, _) => parser.key_source(setting).map(|source| KeyChoice::Source(Box::new(source))),
        (None, Purpose::Http, _) => Some(KeyChoice::Source(Box::new(KeySource::EachCall))),
        (None, Purpose::OneCaller, Some(store)) => Some(KeyChoice::Account(store.clone())),
        (None, Purpose::OneCaller, None) => {
            parser.add_missing_key();
            None
        }
    }
}

fn client_config(
    parser: &mut SettingParser<'_>,
    key: Option<KeyChoice>,
    ca_file: Option<PathBuf>,
) -> Option<ClientConfig> {
    let base_url = parser.required(&BASE_URL, HostUrl::main);
    let knowledge_url = parser.for_some_tools(&KNOWLEDGE_URL, HostUrl::parse);
    let timeout = parser.optional(&TIMEOUT_S, parse::timeout).unwrap_or(DEFAULT_TIMEOUT);

    let base_url = base_url?;
    let key = match key? {
        KeyChoice::Source(source) => *source,
        KeyChoice::Account(store) => {
            let hosts = [&base_url].into_iter().chain(knowledge_url.iter().flatten());
            let account = parser.text(&PROFILE).unwrap_or(FIRST_PROFILE).to_owned();
            let withheld = parser.values().withheld_key.clone();
            KeySource::stored(StoredKey::new(store, account, hosts, withheld))
        }
    };

    Some(ClientConfig { base_url, knowledge_url, key, ca_file, timeout })
}

/// Returns the configuration of calls around the configuration `client`. Parses every value even if `client` is
/// missing, so that all problems are found.
fn call_config(parser: &mut SettingParser<'_>, client: Option<ClientConfig>) -> Option<CallConfig> {
    let project = parser.optional(&PROJECT_ID, parse::project_id);
    let projects = parser.optional(&PROJECTS, parse::project_ids).unwrap_or_default();
    let tmsys_name = parser.optional(&TMSYS_NAME, parse::tmsys_name);
    let max_reply_chars = parser.optional(&MAX_REPLY_CHARS, parse::max_reply_chars);
    let asks_first = parser.optional(&CONFIRM, parse::asks_first).unwrap_or(true);
    let read_only = parser.optional(&READ_ONLY, parse::boolean).unwrap_or(false);

    Some(CallConfig {
        client: client?,
        project,
        projects,
        tmsys_name: tmsys_name.unwrap_or_else(|| DEFAULT_TMSYS_NAME.to_owned()),
        max_reply_chars: max_reply_chars.unwrap_or(DEFAULT_MAX_REPLY_CHARS),
        asks_first,
        read_only,
    })
}

fn files_config(
    parser: &mut SettingParser<'_>,
    ca_file: Option<PathBuf>,
    ci_job: Option<&CiJob>,
    upload_timing: &UploadTiming,
) -> FilesConfig {
    let root = parser.for_some_tools(&FILES_ROOT, |path| FilesRoot::new(Path::new(path)));
    let state = parser.optional(&STATE_DIR, |path| Ok(PathBuf::from(path))).or_else(default_state_directory);

    let (ci_job, timing) = (ci_job.cloned(), upload_timing.clone());
    let key_file = parser.text(&API_KEY_FILE).map(PathBuf::from);
    let address_policy = AddressPolicy::default();
    FilesConfig { root, state, ca_file, ci_job, timing, address_policy, key_file }
}

/// Parses the values that no configuration contains, so that their problems are reported too.
fn check_other_settings(parser: &mut SettingParser<'_>) {
    parser.optional(&PROFILE, |_| Ok(()));
    parser.optional(&LOG, |text| parse::log_filter(text).map(drop));
    parser.optional(&LOG_FORMAT, parse::is_json);
    parser.optional(&TOOLSETS, |words| Selection::parse(words, false).map_err(|error| error.to_string()));
}

/// Returns the directory in which programs of this user keep their state.
fn default_state_directory() -> Option<PathBuf> {
    dirs::state_dir().or_else(dirs::data_local_dir).map(|directory| directory.join("tas-mcp"))
}
