//! Which reports tell the same.

use tas_mcp::tools::summary::signature::normalised;

const RUN: &str = "hui4d9ilmby";
const JOB: &str = "3126ec62-851c-4a5f-bce1-dd354c0912de";

fn alike(one: &str, other: &str) -> bool {
    normalised(one, &[RUN, JOB])
        == normalised(other, &["brjbojnejvn", "deadbeef-cafe-abba-face-feedfacedead"])
}

#[test]
fn numbers_times_ids_and_letter_case_are_no_difference() {
    for (one, other) in [
        ("Waited 30 s for the door", "waited 7 s for the DOOR"),
        ("Frame 1,204 of 3.5 million", "Frame 9 of 12.25 million"),
        ("Stuck at -3 health", "Stuck at 250 health"),
        ("Tapped \"120, 340\" in vain", "Tapped \"7,9\" in vain"),
        ("Tapped (120, 340) in vain", "Tapped (0.5;0.25) in vain"),
        ("At 09:15:00 it closed", "At 2026-03-02T10:00:00+00:00 it closed"),
        ("At 2026-03-02T09:15:00.123Z it closed", "At 10:00 it closed"),
        (
            "Session 3126ec62-851c-4a5f-bce1-dd354c0912de ended",
            "Session 00aa11bb-0000-4000-8000-abcdefabcdef ended",
        ),
        ("Player k3x9 left", "Player 77 left"),
        ("Run hui4d9ilmby hung", "Run brjbojnejvn hung"),
        ("Job 3126EC62-851C-4A5F-BCE1-DD354C0912DE hung", "Job deadbeef-cafe-abba-face-feedfacedead hung"),
        ("  The   door\nstayed closed ", "The door stayed closed."),
        ("Level ١٢ did not load", "Level 12 did not load"),
        ("", " . "),
    ] {
        assert!(alike(one, other), "{one} / {other}: {}", normalised(one, &[RUN, JOB]));
    }
}

#[test]
fn other_words_are() {
    for (one, other) in [
        ("The door stayed closed", "The door stayed open"),
        ("The gate-1 is shut", "The door-1 is shut"),
        ("Tür 5 klemmt", "Tor 5 klemmt"),
        ("5 doors are closed", "doors are closed"),
        ("A face is missing", "A bead is missing"),
        ("门打不开", "窗打不开"),
    ] {
        assert!(!alike(one, other), "{one} / {other}: {}", normalised(one, &[]));
    }
}

/// The one part of an id that is a word is none of the report.
#[test]
fn a_short_id_is_not_taken_out_of_words() {
    assert_eq!(normalised("The door", &["door", ""]), "the door");
}
