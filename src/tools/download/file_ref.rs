//! References to files of players (supplement 15), and ids of players.

/// Prefix of a reference to a file.
pub(super) const FILE_REF_PREFIX: &str = "artifact:";

/// Splits the id of a player into the id of its run and the number of the player. The id of a run has no number.
pub(super) fn split_player_id(id: &str) -> (&str, Option<u64>) {
    let parts = id.rsplit_once('-').and_then(|(run, player)| Some((run, player.parse().ok()?)));
    parts.filter(|(run, _)| !run.is_empty()).map_or((id, None), |(run, player)| (run, Some(player)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_after_the_last_hyphen_is_that_of_a_player() {
        let cases = [
            ("run_1-2", ("run_1", Some(2))),
            ("run_1", ("run_1", None)),
            ("a-b", ("a-b", None)),
            ("a-1-2", ("a-1", Some(2))),
            ("-2", ("-2", None)),
        ];
        for (id, expected) in cases {
            assert_eq!(split_player_id(id), expected, "{id}");
        }
    }
}
