//! Templates in the steps of tests (supplement 2.1).

use std::sync::Arc;

use serde_json::Value;

use super::{launch::Work, tests::Test};
use crate::{fields::Fields, service::api::Open};

/// Values of the variables; `None` when templates are not to be rendered.
pub(super) fn template_data(render: Option<bool>, data: Option<Open>) -> Option<Open> {
    (render == Some(true)).then(|| data.unwrap_or_default())
}

/// The works with their tests rendered, if they are to be.
pub(super) fn rendered_works(works: Vec<Work>, data: Option<&Open>) -> Vec<Work> {
    let Some(data) = data else { return works };
    works.into_iter().map(|work| Work { test: rendered(&work.test, data), ..work }).collect()
}

/// The test with the variables of its steps filled in.
fn rendered(test: &Arc<Test>, data: &Fields) -> Arc<Test> {
    let mut test = Test::clone(test);
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
