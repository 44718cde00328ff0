//! Every operation that creates a record states how the duplicate guard finds the record.

use tas_mcp::service::{
    catalog::{self, OPERATIONS, OperationEntry},
    operation::{ListProbe, Probe},
    tool::Effect,
};

/// Operations that create a record on every call. `complete_build_upload` is none of them: the service refuses the
/// second completion, because it does not know the upload any more.
fn creating_operations() -> impl Iterator<Item = &'static OperationEntry> {
    OPERATIONS.iter().filter(|entry| entry.effect == Effect::Creates && entry.name != "complete_build_upload")
}

fn list_probes(entry: &OperationEntry) -> impl Iterator<Item = ListProbe> {
    entry
        .request
        .duplicate_checks
        .iter()
        .filter_map(|check| if let Probe::List(list) = check.probe { Some(list) } else { None })
}

#[test]
fn every_creating_operation_states_how_its_records_are_found() {
    let named =
        |name: &str| ["start_", "create_", "export", "initiate_"].iter().any(|kind| name.starts_with(kind));

    assert!(creating_operations().all(|entry| named(entry.name)));
    assert_eq!(OPERATIONS.iter().filter(|entry| named(entry.name)).count(), creating_operations().count());

    for entry in creating_operations() {
        let last =
            entry.request.duplicate_checks.last().unwrap_or_else(|| panic!("{} has no check", entry.name));
        let is_general =
            last.when_given.is_none_or(|name| entry.input_schema()["required"].to_string().contains(name));
        assert!(is_general, "{}: some calls have no check", entry.name);
    }
}

#[test]
fn the_lists_have_the_filters_and_fields_of_the_look_up() {
    for (entry, list) in
        creating_operations().flat_map(|entry| list_probes(entry).map(move |list| (entry, list)))
    {
        let found = catalog::find(list.list).expect("an operation");
        let takes = &found.input_schema()["properties"];
        let arguments = list.newest_first.iter().map(|(name, _)| name).chain(list.filters);

        for name in arguments.chain(&["page", "page_size"]) {
            assert!(takes[*name].is_object(), "{}: `{name}` of {}", entry.name, list.list);
        }

        let record = &found.output_schema()["properties"]["data"]["items"]["properties"];
        let matched = list.matches.iter().map(|matched| &matched.field);
        let shown = matched.chain(list.shown_fields).chain(list.created_at.as_ref());

        for name in shown.filter(|name| **name != "id" || list.shown_fields.contains(&"id")) {
            assert!(record[*name].is_object(), "{}: `{name}` of {}: {record}", entry.name, list.list);
        }
    }
}

#[test]
fn compared_arguments_exist() {
    for entry in creating_operations() {
        let takes = &entry.input_schema()["properties"];
        let conditions = entry.request.duplicate_checks.iter().filter_map(|check| check.when_given);
        let compared = list_probes(entry).flat_map(|list| {
            list.matches.iter().map(|matched| matched.argument).chain(list.filters.iter().copied())
        });
        for path in conditions.chain(compared) {
            let name = path.split('.').next().expect("a name");
            assert!(takes[name].is_object(), "{}: `{path}`", entry.name);
        }
    }
}
