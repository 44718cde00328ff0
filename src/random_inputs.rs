//! Random inputs for the tests of everything that reads texts of hosts, services and files.

use std::{
    cell::Cell,
    time::{Duration, Instant},
};

use proptest::{
    collection,
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};
use serde_json::Value;

use crate::fields::Fields;

/// Number of cases of the library if the variable `PROPTEST_CASES` is not set.
const USUAL_CASES: u32 = 256;

/// Number of cases of a property in the suite.
const FEW_CASES: u32 = 32;

/// Share of the cases of a long run that a property of JSON values gets. Such a case takes a hundred times as long as
/// one of a text.
const SHARE_OF_VALUES: u32 = 4;

/// Longest time that one case may take in a long run.
const CASE_LIMIT: Duration = Duration::from_secs(1);

/// Checks that `property`, which panics if it does not hold, holds for these texts.
///
/// The suite checks a few inputs, which are the same in every run. If `PROPTEST_CASES` is greater than [`USUAL_CASES`],
/// that number of new inputs is checked, each within [`CASE_LIMIT`], and the number and the longest time are printed.
pub(crate) fn check_texts<S: Strategy>(texts: &S, property: impl Fn(S::Value)) {
    check(texts, 1, 1, property);
}

/// Checks that `property` holds for these JSON values, as [`check_texts`] does. A long run checks a quarter of the
/// cases, divided by the number of `subjects` for each of which this function is called.
pub(crate) fn check_values<S: Strategy>(values: &S, subjects: usize, property: impl Fn(S::Value)) {
    let subjects = u32::try_from(subjects).unwrap_or(u32::MAX);
    check(values, subjects, SHARE_OF_VALUES, property);
}

fn check<S: Strategy>(inputs: &S, subjects: u32, share: u32, property: impl Fn(S::Value)) {
    let default = ProptestConfig::default();
    let is_long = default.cases > USUAL_CASES;
    let (cases, rng_seed) = if is_long {
        (default.cases.div_ceil(subjects * share), default.rng_seed)
    } else {
        (FEW_CASES.div_ceil(subjects), RngSeed::Fixed(1))
    };
    let config = ProptestConfig { cases, rng_seed, failure_persistence: None, ..default };

    let longest = Cell::new(Duration::ZERO);
    let outcome = TestRunner::new(config).run(inputs, |input| {
        let start = Instant::now();
        property(input);

        longest.set(longest.get().max(start.elapsed()));
        // A test that runs beside others must not depend on time.
        assert!(!is_long || start.elapsed() < CASE_LIMIT, "the case took {:?}", start.elapsed());
        Ok(())
    });

    if let Err(error) = outcome {
        panic!("{error}");
    }
    if is_long {
        print_figures(cases, longest.get());
    }
}

fn print_figures(cases: u32, longest: Duration) {
    let thread = std::thread::current();
    println!("\nchecked {cases} {} ms {}", longest.as_millis(), thread.name().unwrap_or_default());
}

/// Text with many characters that mean something to a terminal, a path, JSON or a model.
pub(crate) fn text() -> impl Strategy<Value = String> {
    let special = proptest::sample::select(vec![
        "\u{1b}[2J",
        "\u{202e}",
        "\u{200b}",
        "\u{200d}",
        "\u{fe0f}",
        "\u{e0041}",
        "\u{2028}",
        "\u{fffe}",
        "\r",
        "\n",
        "\0",
        "/",
        "..",
        ".",
        "-",
        "\\",
        "\"",
        "{",
        "[",
        "*",
        "?",
        ",",
        "%2f",
        "C:",
        "]]>",
        "</script>",
        "&amp;",
        "\u{1f469}",
        "1",
        "true",
        "é",
    ])
    .prop_map(str::to_owned);

    let any = collection::vec(any::<char>(), 0..8).prop_map(String::from_iter);
    collection::vec(prop_oneof![special, any], 0..6).prop_map(|parts| parts.concat())
}

/// Any bytes: mostly text.
pub(crate) fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let text = text().prop_map(String::into_bytes);
    prop_oneof![text, collection::vec(any::<u8>(), 0..40)]
}

/// Any JSON value, up to a few hundred values.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let long = (text(), 1..400_usize).prop_map(|(text, count)| Value::from(text.repeat(count)));
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
        long,
    ];

    leaf.prop_recursive(6, 256, 12, |inner| {
        prop_oneof![
            collection::vec(inner.clone(), 0..12).prop_map(Value::from),
            collection::vec((text(), inner), 0..12)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Fields>())),
        ]
    })
}

/// Any JSON object.
pub(crate) fn object() -> impl Strategy<Value = Fields> {
    collection::vec((text(), value()), 0..8).prop_map(|fields| fields.into_iter().collect())
}

/// JSON objects that have fields with the names `names`, with values of any kind.
pub(crate) fn object_with(names: Vec<String>) -> impl Strategy<Value = Fields> {
    let name =
        if names.is_empty() { Just(String::new()).boxed() } else { proptest::sample::select(names).boxed() };
    let known = collection::vec((name, value()), 0..6);
    (known, object()).prop_map(|(known, other)| known.into_iter().chain(other).collect())
}
