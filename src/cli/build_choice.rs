//! The choice of a build by words of its name.

use serde_json::{Value, json};

use super::name_resolution::{LATEST, NameResolver, single};
use crate::{
    call::arguments::{CommonArguments, ToolArguments},
    failure::Failure,
    fields::Fields,
    service::{api::builds::ListBuilds, catalog::ListedOperation as _},
    text::composed,
    tools::{
        name_search::{FoundRecord, NameMatch, NameResult, RecordKind, is_named},
        newest::{WantedRecords, read_newest},
    },
};

/// Returns the build that a user names: by its name or file name, else by words of its name; `latest` is the newest
/// one. If `platform` is known, and builds for it match, builds for other platforms are left out.
///
/// # Errors
/// `invalid_arguments` with the builds to choose from, and the failures of the list.
pub(super) async fn choose_build(
    resolver: NameResolver<'_>,
    name: &str,
    platform: Option<&str>,
) -> Result<FoundRecord, Failure> {
    let arguments = ToolArguments::new(Fields::new(), CommonArguments::in_project(resolver.project));
    let wanted = WantedRecords { filter: |_| true, limit: usize::MAX };
    let builds = read_newest(resolver.caller, ListBuilds::entry(), arguments, wanted).await?;
    for page in &builds.unread {
        tracing::warn!("not all builds could be read: {}", json!(page));
    }

    let matching = matching(&builds.data, name, platform);
    let records: Vec<_> =
        matching.into_iter().filter_map(|build| FoundRecord::from_record(RecordKind::Build, build)).collect();
    let r#match = if records.is_empty() { NameMatch::None } else { NameMatch::Exact };

    single(&[RecordKind::Build], NameResult { name: name.to_owned(), r#match, reason: None, records })
}

/// Returns the builds that have the name, else those whose name contains all its words. `builds` begins with the
/// newest.
fn matching<'a>(builds: &'a [Value], name: &str, platform: Option<&str>) -> Vec<&'a Value> {
    let text = |build: &'a Value, field: &str| build.get(field).and_then(Value::as_str).unwrap_or_default();
    let wanted = words(name);
    let has_words = |build: &&'a Value| {
        let found = words(text(build, "name"));
        wanted.iter().all(|word| found.contains(word))
    };

    let mut matching: Vec<_> =
        builds.iter().filter(|build| is_named(RecordKind::Build, build, name)).collect();
    let is_latest = matching.is_empty() && name.eq_ignore_ascii_case(LATEST);
    if is_latest {
        matching = builds.iter().collect();
    } else if matching.is_empty() {
        matching = builds.iter().filter(has_words).collect();
    }

    let runs_on = |build: &&'a Value| {
        // The platform `ios` of a device takes builds for `ios-native`.
        let family = |platform: &'a str| platform.split('-').next();
        platform.is_none_or(|platform| family(text(build, "platform")) == platform.split('-').next())
    };
    if matching.iter().any(runs_on) {
        matching.retain(runs_on);
    }
    if is_latest {
        matching.truncate(1);
    }

    matching
}

/// Returns the words of a name in lower case.
fn words(name: &str) -> Vec<String> {
    composed(name).split_whitespace().map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_chosen_by_name_or_words_for_the_platform_of_the_device() {
        let build = |id: &str, name: &str, platform: &str| json!({"id": id, "name": name, "file_name": format!("{id}.bin"), "platform": platform});
        let builds = [
            build("a3", "Game 1.4.2 nightly", "android"),
            build("w3", "Game 1.4.2 nightly", "windows"),
            build("i3", "Game 1.4.2 nightly (iOS)", "ios-native"),
            build("a2", "Game 1.4.1", "android"),
        ];

        for (name, platform, expected) in [
            ("1.4.2", None, &["a3", "w3", "i3"][..]),
            ("1.4.2", Some("windows"), &["w3"]),
            ("nightly 1.4.2", Some("ios"), &["i3"]),
            ("game 1.4.1", None, &["a2"]),
            ("game 1.4.1", Some("windows"), &["a2"]),
            ("A2.bin", None, &["a2"]),
            ("latest", None, &["a3"]),
            ("latest", Some("windows"), &["w3"]),
            ("1.4", None, &[]),
        ] {
            let found = matching(&builds, name, platform);
            let ids: Vec<_> = found.iter().map(|build| build["id"].as_str().expect("an id")).collect();
            assert_eq!(ids, expected, "{name} {platform:?}");
        }
    }
}
