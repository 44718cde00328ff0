//! Tools: their properties, their schemas, and the sets that a setting switches on or off.
//!
//! A tool is one operation of the service, or a composite tool that sends several requests. Both state their
//! properties in a [`ToolInfo`].

use std::{
    fmt::{Display, Formatter, Result},
    ops::Deref,
    sync::{Arc, LazyLock},
};

use schemars::{JsonSchema, SchemaGenerator};

use crate::{
    fields::Fields,
    service::{rule::Rule, schema},
    text::guidance::Guidance,
};

/// Argument of every tool in global scope. Project scope accepts the argument too, to refuse another project.
pub const PROJECT_ID: &str = "project_id";

/// Argument of tools whose calls may be irreversible or costly: a user has agreed to the call.
pub const CONFIRM: &str = "confirm";

/// Argument of tools that change records: the call is checked, and its request is shown instead of sent.
pub const DRY_RUN: &str = "dry_run";

/// Argument of tools that read: the wanted fields of the answer, as dotted names separated by commas.
pub const FIELDS: &str = "fields";

/// A tool as it is listed and checked. Dereferences to its properties.
#[derive(Debug)]
pub struct ToolDefinition {
    /// The stated properties.
    info: ToolInfo,
    /// Description, and schema of the arguments.
    input: LazyLock<(String, Fields)>,
    /// Complete schema of the answer.
    output: LazyLock<Arc<Fields>>,
    generate_output: fn(&mut SchemaGenerator, usize) -> Fields,
}

impl ToolDefinition {
    /// A tool with the properties `info` that takes `Arguments` and answers with `Answer`.
    pub const fn new<Arguments: JsonSchema, Answer: JsonSchema>(info: ToolInfo) -> Self {
        Self {
            info,
            // `new` runs at compile time, where schemas cannot be generated.
            input: LazyLock::new(schema::input::<Arguments>),
            output: LazyLock::new(|| {
                Arc::new(schema::answer::<Answer>(&mut schema::answer_types(), usize::MAX))
            }),
            generate_output: schema::answer::<Answer>,
        }
    }

    /// Returns the description that a model reads: the doc comment of the arguments type.
    pub fn description(&self) -> Guidance {
        self.input.0.clone().into()
    }

    /// Returns the schema of the arguments, without the arguments that tools have in common. Its descriptions are
    /// texts that [refer to tools](crate::text::guidance).
    pub fn input_schema(&self) -> &Fields {
        &self.input.1
    }

    /// Returns the complete schema of the answer.
    pub fn output_schema(&self) -> &Arc<Fields> {
        &self.output
    }

    /// Returns the schema of the answer with the fields of objects up to `depth`, from a generator of [`schema::answer_types`].
    pub(crate) fn answer_schema(&self, types: &mut SchemaGenerator, depth: usize) -> Fields {
        (self.generate_output)(types, depth)
    }

    /// Returns whether a caller can select a page of the list, and its size.
    pub fn takes_pages(&self) -> bool {
        self.records.is_some()
    }

    /// Returns whether the answer is a page of records.
    pub fn answers_with_page(&self) -> bool {
        schema::records(self.output_schema()).is_some()
    }
}

impl Deref for ToolDefinition {
    type Target = ToolInfo;

    fn deref(&self) -> &ToolInfo {
        &self.info
    }
}

/// Returns the text of the confirmation question for calls that are irreversible or costly, and `None` for other
/// calls. The arguments are those of the call.
pub type ConfirmationQuestion = fn(&Fields) -> Option<String>;

/// The properties of a tool that are stated in the source, not generated.
///
/// A new property is one field here, its default in `ToolInfo::new`, and one builder method.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "the properties are independent")]
pub struct ToolInfo {
    /// Unique name. For an operation it is the `operationId` of the contract.
    pub name: &'static str,
    /// Title for users.
    pub title: &'static str,
    /// Effect of a call.
    pub effect: Effect,
    /// Set of tools that the tool belongs to.
    pub toolset: Toolset,
    /// Whether the tool is offered by default.
    pub tier: Tier,
    /// What the API key must allow.
    pub access: Access,
    /// Rules that a schema cannot express.
    pub rules: &'static [Rule],
    /// Fields that every answer has. An answer without one of them is reported as a bad response.
    pub required_fields: &'static [&'static str],
    /// The keys of the records of a list.
    pub records: Option<RecordKeys>,
    /// The fields of a list that a model gets unless it selects others, separated by commas.
    pub brief: Option<&'static str>,
    /// A list in the answer, and the field of its entries that a model gets only if it selects the field.
    pub only_if_selected: Option<(&'static str, &'static str)>,
    /// What a caller does after some failures.
    pub failure_hints: FailureHints,
    /// The question that a user must answer before an irreversible or costly call.
    pub confirmation_question: Option<ConfirmationQuestion>,
    /// What a call does beyond the request of the operation.
    pub extension: Option<Extension>,
    /// What an answer that is too long loses before anything else, in this order.
    pub lost_first: &'static [LostFirst],
    /// Whether a result may have pictures beside its text.
    pub has_pictures: bool,
    /// Whether a result may have links to files beside its text.
    pub has_links: bool,
    /// Whether hosts that display HTML have a page for the answer.
    pub has_view: bool,
    /// Whether the tool reads or writes files of the machine on which this program runs.
    pub uses_local_files: bool,
}

/// A part of an answer that a reader misses less than the rest. `list` is the JSON pointer to a list.
#[derive(Clone, Copy, Debug)]
pub enum LostFirst {
    /// A field of all entries.
    Field {
        /// The list.
        list: &'static str,
        /// The name of the field.
        name: &'static str,
    },
    /// Entries from the end.
    Entries {
        /// The list.
        list: &'static str,
        /// JSON pointer to the number of entries that stay. Without the number, all of them stay.
        kept: &'static str,
    },
}

/// What a caller does after a failure of a tool, where the kind of the failure alone does not say it.
#[derive(Clone, Copy, Debug)]
pub struct FailureHints {
    /// How to find out what happened, if the outcome of a call is unknown.
    pub recovery: Option<&'static str>,
    /// What still works if the key lacks the permission.
    pub access: Option<&'static str>,
    /// What still works without the feature or the integration that the tool needs in the project.
    pub feature: Option<&'static str>,
    /// What to do if a record that the call names does not exist.
    pub not_found: Option<fn(&Fields) -> &'static str>,
    /// What to do if the service refuses the call because of what exists or happens already.
    pub conflict: Option<&'static str>,
}

impl FailureHints {
    const NONE: Self = Self { recovery: None, access: None, feature: None, not_found: None, conflict: None };
}

impl ToolInfo {
    const fn new(name: &'static str, title: &'static str, toolset: Toolset, effect: Effect) -> Self {
        Self {
            name,
            title,
            effect,
            toolset,
            tier: Tier::Core,
            access: Access::AnyKey,
            rules: &[],
            required_fields: &[],
            records: None,
            brief: None,
            only_if_selected: None,
            failure_hints: FailureHints::NONE,
            confirmation_question: None,
            extension: None,
            lost_first: &[],
            has_pictures: false,
            has_links: false,
            has_view: false,
            uses_local_files: false,
        }
    }

    /// A tool that changes nothing.
    pub const fn reads(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Reads)
    }

    /// A tool that returns a page of a list. Its records have an `id` and a `name`, unless [`Self::records`] says otherwise.
    pub const fn lists(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        let keys = RecordKeys { id: "id", times: &[], name: "name" };
        Self::reads(name, title, toolset).records(keys).requires_fields(&[schema::RECORDS])
    }

    /// A tool with the effect [`Effect::Creates`].
    pub const fn creates(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Creates)
    }

    /// A tool with the effect [`Effect::Replaces`].
    pub const fn replaces(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Replaces)
    }

    /// A tool with the effect [`Effect::Stops`].
    pub const fn stops(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Stops)
    }

    /// A tool with the effect [`Effect::Deletes`].
    pub const fn deletes(name: &'static str, title: &'static str, toolset: Toolset) -> Self {
        Self::new(name, title, toolset, Effect::Deletes)
    }

    setters! {
        extra() sets tier = Tier::Extra;
        needs(permission: &'static str) sets access = Access::Permission(permission);
        without_key() sets access = Access::NoKey;
        rules(rules: &'static [Rule]) sets rules = rules;
        requires_fields(fields: &'static [&'static str]) sets required_fields = fields;
        records(records: RecordKeys) sets records = Some(records);
        brief(fields: &'static str) sets brief = Some(fields);
        only_if_selected(field: (&'static str, &'static str)) sets only_if_selected = Some(field);
        recovery_hint(hint: &'static str) sets failure_hints.recovery = Some(hint);
        access_hint(hint: &'static str) sets failure_hints.access = Some(hint);
        needs_feature(hint: &'static str) sets failure_hints.feature = Some(hint);
        not_found_hint(hint: fn(&Fields) -> &'static str) sets failure_hints.not_found = Some(hint);
        conflict_hint(hint: &'static str) sets failure_hints.conflict = Some(hint);
        asks_confirmation(question: ConfirmationQuestion) sets confirmation_question = Some(question);
        extended_by(extension: Extension) sets extension = Some(extension);
        loses_first(parts: &'static [LostFirst]) sets lost_first = parts;
        with_pictures() sets has_pictures = true;
        with_links() sets has_links = true;
        with_view() sets has_view = true;
        uses_local_files() sets uses_local_files = true;
    }

    /// Returns whether a caller can select fields of the answer with the argument [`FIELDS`].
    pub const fn takes_fields(&self) -> bool {
        self.effect.is_read_only()
    }

    /// Returns whether a caller can see with the argument [`DRY_RUN`] what a call would change at the service.
    pub const fn takes_dry_run(&self) -> bool {
        // A download changes local files only.
        let saves_files = self.uses_local_files && matches!(self.effect, Effect::Replaces);
        !self.effect.is_read_only() && !saves_files
    }

    /// Returns the field that records have only if a caller names it, because it needs further requests.
    pub fn field_by_name(&self) -> Option<&'static str> {
        match self.extension? {
            Extension::EveryFolder => Some(LAST_RUN_AT),
            Extension::NewestOccurrence => Some(NEWEST_OCCURRENCE),
            Extension::Newest | Extension::PlayerFiles => None,
        }
    }

    /// Returns the message for a call of a tool that the setting `setting` switches off.
    pub fn switched_off_by(&self, setting: &str) -> String {
        format!("`{}` is switched off by the setting {setting}", self.name)
    }
}

/// What a call of an operation does beyond its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Names the device of each run, and can read every page to return the newest runs, or list the jobs without a run.
    Newest,
    /// Warns if the answer may lack tests, and can read the tests of every folder, and when each was last run.
    EveryFolder,
    /// Can read the newest occurrence of each bug.
    NewestOccurrence,
    /// Takes the id of a run for its only player, and adds links to the files of a list.
    PlayerFiles,
}

/// Field of a test with the time of its newest run.
pub const LAST_RUN_AT: &str = "last_run_at";

/// Field of a bug with its newest occurrence.
pub const NEWEST_OCCURRENCE: &str = "newest_occurrence";

/// What an API key must allow (service.md 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The key must have this permission.
    Permission(&'static str),
    /// Every valid key is accepted.
    AnyKey,
    /// The request is sent without a key.
    NoKey,
}

impl Display for Access {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Permission(permission) => permission,
            Self::AnyKey => "any key",
            Self::NoKey => "no key",
        })
    }
}

/// What a call of a tool changes. The effect decides the annotations of the tool and whether a request may be
/// repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing.
    Reads,
    /// Creates a new record on every call.
    Creates,
    /// Changes an existing record or file and may lose its earlier content. A second equal call changes nothing more.
    Replaces,
    /// Ends a process. A second equal call finds nothing to stop.
    Stops,
    /// Deletes a record permanently. A second equal call finds nothing to delete.
    Deletes,
}

impl Effect {
    /// Returns whether the tool changes nothing.
    pub const fn is_read_only(self) -> bool {
        matches!(self, Self::Reads)
    }

    /// Returns whether the tool may lose existing data.
    pub const fn is_destructive(self) -> bool {
        matches!(self, Self::Replaces | Self::Stops | Self::Deletes)
    }

    /// Returns whether a second equal call changes nothing more.
    pub const fn is_idempotent(self) -> bool {
        !matches!(self, Self::Creates)
    }
}

impl Display for Effect {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.write_str(match self {
            Self::Reads => "reads",
            Self::Creates => "creates",
            Self::Replaces => "replaces",
            Self::Stops => "stops",
            Self::Deletes => "deletes",
        })
    }
}

/// A set of tools that is switched on or off together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Toolset {
    /// Start, watch and stop runs and jobs.
    Runs,
    /// Export results to the test-management system.
    Exports,
    /// Bugs of runs, and reviewed bugs.
    Bugs,
    /// Builds in build storage.
    Builds,
    /// Saved tests and their folders.
    Tests,
    /// Test plans and their executions.
    Plans,
    /// Shared step collections.
    Steps,
    /// Deployment configs, agent configs and credential kinds.
    Configs,
    /// Knowledge files of projects, agents and tests.
    Knowledge,
    /// Files that the players of runs produce.
    Artifacts,
    /// Installers of Minions, the agents on test machines.
    Minions,
}

impl Toolset {
    /// Every set with its name in the setting `TAS_TOOLSETS`, in the order in which help texts list them.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Runs, "runs"),
        (Self::Exports, "exports"),
        (Self::Bugs, "bugs"),
        (Self::Builds, "builds"),
        (Self::Tests, "tests"),
        (Self::Plans, "plans"),
        (Self::Steps, "steps"),
        (Self::Configs, "configs"),
        (Self::Knowledge, "knowledge"),
        (Self::Artifacts, "artifacts"),
        (Self::Minions, "minions"),
    ];

    /// The word that selects the set in `TAS_TOOLSETS`.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(set, _)| *set == self).map_or("", |(_, name)| name)
    }
}

/// Whether a tool is offered by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// The tool is offered by default: it is a main operation of the service, or another such tool needs it.
    Core,
    /// The tool is offered if its set, its name or `all` is selected.
    Extra,
}

/// The fields by which the records of a list are told apart and sorted, with dots and indices.
#[derive(Clone, Copy, Debug)]
pub struct RecordKeys {
    /// Identifies a record.
    pub id: &'static str,
    /// Times, of which the first one that a record has decides how new it is. Records without a time are sorted by name.
    pub times: &'static [&'static str],
    /// Name of the record, or of what it belongs to.
    pub name: &'static str,
}
