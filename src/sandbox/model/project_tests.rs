//! The saved tests of a project.

use std::sync::Arc;

use crate::sandbox::model::{
    project::Project, saved_test::SavedTest, test_plan::SavedPlan, timeline::Timeline,
};

impl Project {
    /// Saves a version of a test.
    pub(crate) fn save_test(&mut self, test: SavedTest) {
        let test = Arc::new(test);
        self.test_versions.entry(test.id.clone()).or_default().push(Arc::clone(&test));
        self.tests.insert(test.id.clone(), test);
    }

    /// Returns whether a test has runs. A queued job counts, because it will have a run.
    pub(crate) fn has_runs_of(&self, test: &str) -> bool {
        self.jobs.values().any(|job| job.test.id == test && Timeline::from_job(job).has_attempts())
    }

    /// Removes a test from the repository and from every plan. Its runs keep the test as it was.
    pub(crate) fn remove_test(&mut self, test: &str) {
        self.tests.shift_remove(test);
        self.test_versions.remove(test);

        for plan in self.plans.values_mut().filter(|plan| plan.items.iter().any(|item| item.test == test)) {
            let items = plan.items.iter().filter(|item| item.test != test).cloned().collect();
            *plan = Arc::new(SavedPlan { items, ..SavedPlan::clone(plan) });
        }
    }
}
