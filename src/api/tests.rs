//! Saved tests (supplement 6).
#![expect(
    missing_docs,
    reason = "the service's own names speak for themselves; paging fields are described by their types"
)]

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ListPage, Page, PageSize};
use crate::{
    operation::{Effect, Operation, Tier, Toolset},
    rule::Rule,
};

/// Finds saved tests and their ids, all of them or those of one folder.
///
/// `id` is the `multiplayer_test_id` of `start_run`. Without a folder the list may show the root only.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListTests {
    /// Direct children of it, such as `Levels/World 1`. Not with `folder_id`.
    pub folder_path: Option<String>,
    /// Not with `folder_path`.
    pub folder_id: Option<String>,
    pub page: Option<Page>,
    pub page_size: Option<PageSize<25>>,
}

impl Operation for ListTests {
    const NAME: &'static str = "list_tests";
    const TITLE: &'static str = "List tests";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/tests";
    const EFFECT: Effect = Effect::Reads;
    const TOOLSET: Toolset = Toolset::Tests;
    const TIER: Tier = Tier::Core;
    const PERMISSION: Option<&'static str> = None;
    const RULES: &'static [Rule] = &[Rule::Excludes("folder_path", "folder_id")];
    const ESSENTIAL: &'static [&'static str] = &["data"];
    type Output = ListPage<TestSummary>;
}

/// A saved test, list form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TestSummary {
    pub id: String,
    pub name: String,
    /// `verification`, `discovery` or `task`.
    pub r#type: String,
    pub folder_id: Option<String>,
    /// `/` at the root.
    pub folder_path: Option<String>,
}
