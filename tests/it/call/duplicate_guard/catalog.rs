//! Every operation that makes something says where to look for it.

use tas_mcp::service::{
    catalog::{self, OPERATIONS, OperationEntry},
    operation::{ListProbe, Probe},
    tool::Effect,
};

/// Operations that make something on every call. To complete an upload is none of them: the second time the service
/// does not know it any more.
fn making() -> impl Iterator<Item = &'static OperationEntry> {
    OPERATIONS.iter().filter(|entry| entry.effect == Effect::Creates && entry.name != "complete_build_upload")
}

fn lists(entry: &OperationEntry) -> impl Iterator<Item = ListProbe> {
    entry
        .request
        .duplicate_checks
        .iter()
        .filter_map(|trace| if let Probe::List(list) = trace.probe { Some(list) } else { None })
}

#[test]
fn each_says_where_its_records_are_seen() {
    let named =
        |name: &str| ["start_", "create_", "export", "initiate_"].iter().any(|kind| name.starts_with(kind));

    assert!(making().all(|entry| named(entry.name)));
    assert_eq!(OPERATIONS.iter().filter(|entry| named(entry.name)).count(), making().count());

    for entry in making() {
        let last =
            entry.request.duplicate_checks.last().unwrap_or_else(|| panic!("{} does not say", entry.name));
        let is_general =
            last.when_given.is_none_or(|name| entry.input_schema()["required"].to_string().contains(name));
        assert!(is_general, "{}: some calls have no trace", entry.name);
    }
}

#[test]
fn the_lists_have_what_is_asked_of_them() {
    for (entry, list) in making().flat_map(|entry| lists(entry).map(move |list| (entry, list))) {
        let found = catalog::find(list.list).expect("an operation");
        let takes = &found.input_schema()["properties"];
        let asked = list.newest_first.iter().map(|(name, _)| name).chain(list.filters);

        for name in asked.chain(&["page", "page_size"]) {
            assert!(takes[*name].is_object(), "{}: `{name}` of {}", entry.name, list.list);
        }

        let record = &found.output_schema()["properties"]["data"]["items"]["properties"];
        let same = list.matches.iter().map(|same| &same.field);
        let shown = same.chain(list.shown_fields).chain(list.created_at.as_ref());

        for name in shown.filter(|name| **name != "id" || list.shown_fields.contains(&"id")) {
            assert!(record[*name].is_object(), "{}: `{name}` of {}: {record}", entry.name, list.list);
        }
    }
}

#[test]
fn the_arguments_that_are_compared_exist() {
    for entry in making() {
        let takes = &entry.input_schema()["properties"];
        let marks = entry.request.duplicate_checks.iter().filter_map(|trace| trace.when_given);
        let compared = lists(entry).flat_map(|list| {
            list.matches.iter().map(|same| same.argument).chain(list.filters.iter().copied())
        });
        for path in marks.chain(compared) {
            let name = path.split('.').next().expect("a name");
            assert!(takes[name].is_object(), "{}: `{path}`", entry.name);
        }
    }
}
