//! Adds the values of a profile to those of the command line and of the environment. A variable overrides the profile, unless the
//! flag `--profile` chooses it.

use std::path::Path;

use super::{
    configuration_file::Configuration,
    definition::{API_KEY, API_KEY_COMMAND, API_KEY_FILE, BASE_URL, KNOWLEDGE_URL, PROFILE},
    values::{Origin, Values},
};

/// Settings that belong together: a key is only sent to the addresses that it was given with.
const ACCOUNT: [&str; 5] = [BASE_URL, KNOWLEDGE_URL, API_KEY, API_KEY_FILE, API_KEY_COMMAND];

/// Adds the values of the profile that the flag, the variable or the configuration file `path` chooses. An unknown profile is a
/// problem.
pub(super) fn add_profile(values: &mut Values, configuration: &Configuration, path: &Path) {
    let Configuration { default_profile, profiles } = configuration;
    if let Some(default) = default_profile.as_ref().filter(|_| !values.contains(PROFILE)) {
        values.set(PROFILE, default, Origin::ConfigurationFile(path.to_owned()));
    }

    let Some(name) = values.text(PROFILE).map(str::to_owned) else { return };
    let Some(profile) = profiles.get(&name) else {
        values.set_problem(PROFILE, unknown_profile(configuration, path));
        return;
    };

    let overrides_variables = values.is_flag(PROFILE);
    let origin = Origin::Profile { name, file: path.to_owned() };
    let is_free = |origin: Option<&Origin>| {
        origin.is_none_or(|origin| overrides_variables && matches!(origin, Origin::Variable(_)))
    };

    let has_address = profile.text(BASE_URL).is_some();
    let uses_address = has_address && is_free(values.origin(BASE_URL));
    if uses_address && overrides_variables {
        remove_account_of_variables(values, &origin);
    }
    if has_address && !uses_address && profile.text(API_KEY_FILE).is_some() {
        let reason = "`api_key_file` of the profile is only used with the `base_url` of the profile";
        values.withheld_key = Some(format!("is not set, because {reason} ({origin})"));
    }

    for (setting, text) in profile.values() {
        let name = setting.name();
        let is_used = uses_address || !has_address || !ACCOUNT.contains(&name);
        if is_used && is_free(values.origin(name)) {
            values.set(name, text, origin.clone());
        }
    }
}

/// Removes the addresses and the key of variables, because the key must not be sent to the address of the profile `origin`.
fn remove_account_of_variables(values: &mut Values, origin: &Origin) {
    let is_variable = |values: &Values, name: &str| matches!(values.origin(name), Some(Origin::Variable(_)));

    if let Some(key) = values.key_setting().filter(|name| is_variable(values, name)) {
        values.withheld_key = Some(format!(
            "is not set, because the key of variable {key} is not sent to the address of {origin}, which flag --profile chooses; sign in to the profile with `tas-mcp login`, or set `api_key_file` in it"
        ));
    }
    for name in ACCOUNT {
        if is_variable(values, name) {
            values.remove(name);
        }
    }
}

fn unknown_profile(configuration: &Configuration, path: &Path) -> String {
    let names: Vec<_> = configuration.profiles.keys().map(String::as_str).collect();
    let file = path.display();
    match names.as_slice() {
        [] => format!("is not a profile: {file} has none"),
        names => format!("is not a profile in {file}; the profiles are: {}", names.join(", ")),
    }
}
