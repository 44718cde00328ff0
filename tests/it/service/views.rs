//! Typed views of answers of a service that answers with anything.

use serde_json::{Value, json};
use tas_mcp::service::{
    api::{ListPage, runs::Run, tests::TestSummary},
    lenient::view,
};

#[test]
fn the_odd_values_of_a_long_answer_are_left_out_only_as_far_as_the_answer_can_be_read_again() {
    let padding = "x".repeat(1 << 20);
    for (odd_values, expected) in [(10, 10), (500, 0)] {
        let tests: Vec<_> = (0..odd_values).map(|id| json!({"id": id.to_string(), "name": {}})).collect();
        let page: ListPage<TestSummary> = view(&json!({"data": tests, "padding": padding}));

        assert_eq!(page.data.len(), expected, "{odd_values}");
    }
}

#[test]
fn an_odd_field_of_a_record_costs_the_record_only_if_it_has_very_many_fields() {
    for (others, expected) in [(50, "r1"), (200, "")] {
        let mut record = json!({"multiplayer_run_id": "r1", "created_at": {}});
        for number in 0..others {
            record[format!("other_{number}")] = Value::from(number);
        }

        assert_eq!(view::<Run>(&record).head.multiplayer_run_id, expected, "{others}");
    }
}
