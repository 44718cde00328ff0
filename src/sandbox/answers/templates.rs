//! Templates in the steps of tests (supplement 2.1).

use std::sync::Arc;

use serde_json::Value;

use crate::{
    fields::Fields,
    sandbox::{answers::launch::JobTemplate, model::saved_test::SavedTest},
    service::api::Open,
};

/// Values of the variables; `None` when templates are not to be rendered.
pub(crate) fn template_data(render: Option<bool>, data: Option<Open>) -> Option<Open> {
    (render == Some(true)).then(|| data.unwrap_or_default())
}

/// The works with their tests rendered, if they are to be.
pub(crate) fn rendered_works(works: Vec<JobTemplate>, data: Option<&Open>) -> Vec<JobTemplate> {
    let Some(data) = data else { return works };
    works.into_iter().map(|work| JobTemplate { test: rendered(&work.test, data), ..work }).collect()
}

/// The test with the variables of its steps filled in.
fn rendered(test: &Arc<SavedTest>, data: &Fields) -> Arc<SavedTest> {
    let mut test = SavedTest::clone(test);
    for step in test.players.iter_mut().flat_map(|player| &mut player.steps) {
        for (name, value) in data {
            let value = value.as_str().map_or_else(|| Value::to_string(value), ToOwned::to_owned);
            for variable in [format!("{{{{{name}}}}}"), format!("{{{{ {name} }}}}")] {
                step.goal = step.goal.replace(&variable, &value);
                step.expected.iter_mut().for_each(|text| *text = text.replace(&variable, &value));
            }
        }
    }

    Arc::new(test)
}
