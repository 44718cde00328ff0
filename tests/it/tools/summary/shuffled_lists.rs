//! The answer does not depend on the order of the service's lists.

use super::{
    against, execution,
    history::{History, Test, uuid},
};

fn tests(shift: usize) -> Vec<Test> {
    let words = ["FAILED", "SUCCESS", "ERROR", "TIMEOUT", "BLOCKED", "Melted", "STOPPED"];
    let test = |number: usize| {
        let word = words[(number + shift) % words.len()];
        let attempts: &[&str] = if number.is_multiple_of(4) { &["ERROR", word] } else { &[word] };
        let mut test = Test::new(number / 2, attempts).reporting(format!("Door {number} is {word}."));
        // Tests with different ids may have the same name.
        test.name = format!("Test {}", number % 9);
        test.artifacts = vec!["b.log".into(), "a.log".into()];
        test.with_bug(&format!("bug_{}", number % 5), ["low", "high", "critical"][number % 3])
    };

    (0..230).map(test).collect()
}

#[tokio::test]
async fn the_order_of_the_lists_does_not_change_the_answer() {
    let mut history = History::new(&tests(0));
    history.add(&tests(1));

    let arguments = || against(execution(&uuid(0xe, 1)), "previous");
    let expected = history.clone().summary(arguments()).await;

    assert!(expected["failures"].as_array().is_some_and(|failures| failures.len() > 3), "{expected}");
    for seed in 1..6 {
        let summary = history.shuffled(seed).summary(arguments()).await;
        assert_eq!(summary.to_string(), expected.to_string(), "{seed}");
    }
}
