//! What a patch takes from the lists of the record that it changes. The service replaces a list as a whole, and a plan has no
//! version that could bring its tests back.

use serde_json::Value;

use super::{Caller, Request, RequestSender};
use crate::{failure::Failure, fields::text_at, text::quoted_name};

/// Argument with the changed fields of a record.
const PATCH: &str = "patch";

impl Caller {
    /// Refuses a patch that makes a list of the current record shorter, if a user must agree to it. Only a patch with such a list
    /// reads the record.
    pub(super) async fn check_losses(
        &self,
        request: &Request,
        sender: &RequestSender<'_>,
    ) -> Result<(), Failure> {
        let names = request.operation.request.asks_if_shorter;
        let lists = request.arguments.get(PATCH).map(|patch| lists(patch, names)).unwrap_or_default();
        if lists.is_empty() || !self.requires_confirmation {
            return Ok(());
        }
        let Some(current) = self.read_current_record(request, sender).await? else { return Ok(()) };

        let losses = lists.iter().filter_map(|(path, kept)| {
            let list = path.iter().try_fold(current.value(), |value, name| value.get(name))?;
            let count = list.as_array()?.len();
            (count > *kept)
                .then(|| format!("{} of {count} entries of {}", count - kept, quoted_name(&path.join("."))))
        });
        let losses = losses.collect::<Vec<_>>().join(", ");
        if losses.is_empty() {
            return Ok(());
        }

        self.require_agreement(false, || {
            let quoted = |name| quoted_name(text_at(current.value(), name).unwrap_or("unknown"));
            let [record, project] = ["name", "project_id"].map(quoted);
            format!("{} removes {losses} from {record} in project {project}", request.operation.name)
        })
    }
}

/// Returns the path and the length of each list in `patch` with one of these names, at any depth. Null is an empty list.
fn lists<'a>(patch: &'a Value, names: &[&str]) -> Vec<(Vec<&'a str>, usize)> {
    let fields = patch.as_object().into_iter().flatten();
    let found = fields.flat_map(|(name, value)| {
        if names.contains(&name.as_str()) {
            return vec![(vec![name.as_str()], value.as_array().map_or(0, Vec::len))];
        }
        let below = lists(value, names).into_iter();
        below.map(|(path, length)| ([&[name.as_str()], &path[..]].concat(), length)).collect()
    });
    found.collect()
}
