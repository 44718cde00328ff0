//! Template variables in the steps of tests (service.md 2.1).

use std::sync::Arc;

use serde_json::Value;

use crate::{
    fields::Fields,
    sandbox::{answers::launch::JobTemplate, model::saved_test::SavedTest},
    service::api::Open,
};

/// Returns the values of the variables, or `None` if templates are not rendered.
pub(super) fn template_data(render: Option<bool>, data: Option<Open>) -> Option<Open> {
    (render == Some(true)).then(|| data.unwrap_or_default())
}

pub(super) fn render_jobs(jobs: Vec<JobTemplate>, data: Option<&Open>) -> Vec<JobTemplate> {
    let Some(data) = data else { return jobs };
    jobs.into_iter()
        .map(|job_template| JobTemplate { test: render_test(&job_template.test, data), ..job_template })
        .collect()
}

/// Returns a test with the variables of its steps replaced by their values.
fn render_test(test: &Arc<SavedTest>, data: &Fields) -> Arc<SavedTest> {
    let mut test = SavedTest::clone(test);
    for step in test.players.iter_mut().flat_map(|player| &mut player.steps) {
        for (name, value) in data {
            let value = value.as_str().map_or_else(|| Value::to_string(value), ToOwned::to_owned);
            // The sandbox replaces plain variables only. The service renders Handlebars templates (service.md 2.1).
            for variable in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
                step.goal = step.goal.replace(&variable, &value);
                step.expected.iter_mut().for_each(|text| *text = text.replace(&variable, &value));
            }
        }
    }

    Arc::new(test)
}
