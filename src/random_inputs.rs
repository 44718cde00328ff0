//! Random inputs for the tests of everything that reads texts of hosts, services and files.

use proptest::{
    collection,
    prelude::*,
    test_runner::{RngSeed, TestRunner},
};
use serde_json::Value;

use crate::fields::Fields;

/// Number of inputs for which a property is checked.
const CASES: u32 = 32;

/// Parts of texts that mean something to a terminal, a path, JSON or a model, separated by spaces.
const SPECIAL: &str = "\u{1b}[2J \u{202e} \u{200b} \u{200d} \u{fe0f} \u{e0041} \u{2028} \u{fffe} \u{1f469} é \r \n \0 \
    / .. . - \\ \" { [ * ? , %2f C: ]]> </script> &amp; 1 true";

/// Checks that `property`, which panics if it does not hold, holds for some of these texts: the same ones in every run.
pub(crate) fn check_texts<S: Strategy>(texts: &S, property: impl Fn(S::Value)) {
    check_values(texts, 1, property);
}

/// Checks that `property` holds for some of these JSON values, as [`check_texts`] does. The number of values is divided by the
/// number of `subjects` for each of which this function is called.
pub(crate) fn check_values<S: Strategy>(values: &S, subjects: usize, property: impl Fn(S::Value)) {
    let cases = CASES.div_ceil(u32::try_from(subjects).unwrap_or(u32::MAX));
    let rng_seed = RngSeed::Fixed(1);
    let config = ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() };

    let outcome = TestRunner::new(config).run(values, |value| {
        property(value);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Text with many characters of [`SPECIAL`].
pub(crate) fn text() -> impl Strategy<Value = String> {
    let special: Vec<_> = SPECIAL.split(' ').collect();
    let special = proptest::sample::select(special).prop_map(str::to_owned);
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
