//! Bugs of the games, and their reviews.

use serde_json::json;

use super::{
    builders::{minutes_ago, owned},
    ids::{ARENA_BUG, BUG_ACTIVE, BUG_ARCHIVED, BUG_AUDIO, BUG_CRITICAL, BUG_UNREVIEWED, BUG_VISUAL},
};
use crate::{
    sandbox::model::{
        bug::{BugReview, StoredBug},
        moment::Moment,
        project::Project,
    },
    service::api::bugs::Severity,
};

fn bug(
    id: &str,
    severity: Severity,
    category: &str,
    title: &str,
    texts: [&str; 2],
    tags: &[&str],
) -> StoredBug {
    let [description, reproduction_steps] = texts.map(ToOwned::to_owned);

    StoredBug {
        id: id.to_owned(),
        title: title.to_owned(),
        description,
        reproduction_steps,
        severity,
        category: category.to_owned(),
        confidence: "high".to_owned(),
        tags: owned(tags),
        details: None,
        review: None,
    }
}

impl StoredBug {
    fn reviewed(self, by: &str, at: Moment, comment: Option<&str>) -> Self {
        let (by, comment) = (by.to_owned(), comment.map(ToOwned::to_owned));
        Self {
            review: Some(BugReview { at, reviewer: by, comment, archived: false, suppress_reporting: false }),
            ..self
        }
    }

    fn with_review(mut self, change: impl Fn(&mut BugReview)) -> Self {
        self.review.iter_mut().for_each(change);
        self
    }
}

pub(super) fn add_demo(project: &mut Project) {
    for bug in hud().into_iter().chain(woods()).chain([unreviewed()]) {
        project.bugs.insert(bug.id.clone(), bug);
    }
}

fn days_ago(days: i64) -> Moment {
    minutes_ago(days * 1_440)
}

fn hud() -> [StoredBug; 2] {
    let mut pause = bug(
        BUG_ACTIVE,
        Severity::High,
        "ui",
        "Pause button does not react",
        [
            "Tapping the pause button during play has no effect; the game goes on.",
            "Start level 1, then tap the pause button at the top right.",
        ],
        &["hud", "touch"],
    )
    .reviewed("Dana Reyes", days_ago(1), Some("Confirmed on two phones."));
    pause.details = json!({"element_id": "btn_pause"}).as_object().cloned();
    let icons = bug(
        BUG_ARCHIVED,
        Severity::Medium,
        "ui",
        "Lantern icon covers the spark counter",
        [
            "On narrow screens the lantern icon lies over the counter.",
            "Play level 1 on a phone with a 20:9 screen.",
        ],
        &["hud"],
    )
    .reviewed("Dana Reyes", days_ago(9), Some("Fixed in nightly 409."))
    .with_review(|review| review.archived = true);

    [pause, icons]
}

fn woods() -> [StoredBug; 3] {
    let bridge = bug(
        BUG_CRITICAL,
        Severity::Critical,
        "gameplay",
        "Player falls through the rope bridge",
        [
            "The third plank has no collision while a second player stands on the bridge.",
            "Cross the rope bridge in the Ashen Woods with two players, or run over it while it sways.",
        ],
        &["collision", "coop"],
    )
    .reviewed("Dana Reyes", days_ago(1), None);

    let audio = bug(
        BUG_AUDIO,
        Severity::Low,
        "audio",
        "Owl call loops after leaving the woods",
        [
            "The owl keeps calling in the next area until the game is restarted.",
            "Enter the Ashen Woods at night and leave by the north gate.",
        ],
        &["ambience"],
    )
    .reviewed("Ilir Hoxha", days_ago(2), Some("Known since 1.3; fixed with the new mixer."))
    .with_review(|review| review.suppress_reporting = true);

    let visual = bug(
        BUG_VISUAL,
        Severity::Medium,
        "visual",
        "Fog flickers at the edge of the lantern light",
        [
            "Patches of fog blink on and off where the light ends.",
            "Stand in the fog of the Ashen Woods and turn slowly.",
        ],
        &["shader"],
    )
    .reviewed("Ilir Hoxha", days_ago(2), None);

    [bridge, audio, visual]
}

fn unreviewed() -> StoredBug {
    let mut frames = bug(
        BUG_UNREVIEWED,
        Severity::Medium,
        "performance",
        "Frame rate drops to 20 near the waterfall",
        [
            "Turning towards the waterfall halves the frame rate.",
            "Walk to the waterfall in the Ashen Woods and look at it.",
        ],
        &[],
    );
    "medium".clone_into(&mut frames.confidence);

    frames
}

pub(super) fn add_arena(project: &mut Project) {
    let crash = bug(
        ARENA_BUG,
        Severity::Critical,
        "crash",
        "Game closes when the last flag is taken",
        [
            "The client closes without a message when the match ends by flags.",
            "Play capture the flag and take the third flag.",
        ],
        &["match-end"],
    );
    project.bugs.insert(crash.id.clone(), crash);
}
