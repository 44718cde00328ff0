//! The parts of the record of a run.

use serde_json::{Value, json};

use super::Test;

pub(super) fn player(test: &Test, run: &str, state: &str, result: Option<&String>) -> Value {
    let step = |number: usize, result: Option<&str>, report: &str| {
        json!({
            "step_number": number, "start_time": null, "end_time": null, "duration_ms": null, "run_state": state,
            "run_result": result, "report": report,
            "items": [{"id": "1a", "expected": "The map is there", "status": "failed", "comment": null}],
            "test": {
                "test_step_id": format!("s{number}"), "goal": test.goal, "finish_condition": null,
                "test_type": "verification",
            },
        })
    };

    let result = result.map(String::as_str);
    let artifact = |name: &String| {
        let uploaded_at = "2026-03-01T09:00:00+00:00";
        json!({"filename": name, "url": "https://files.example/x", "size": 1, "uploaded_at": uploaded_at})
    };

    json!({
        "id": format!("{run}-1"), "state": state, "result": result, "player_number": 1, "test_name": test.name,
        "composite_test_id": "c", "step_count": 2, "completed_step_count": 1, "step_result_summary": {},
        "platform": {"type": "android", "device": "Pixel 8"},
        "artifacts": test.artifacts.iter().map(artifact).collect::<Vec<_>>(),
        "steps": [step(1, result.map(|_| "SUCCESS"), "Fine."), step(2, result, &test.report)],
    })
}

pub(super) fn bug_record([id, title, severity]: &[String; 3]) -> Value {
    json!({
        "id": format!("occurrence of {id}"), "bug_id": id, "title": title, "description": "", "category": "ui",
        "severity": severity, "confidence": "high", "reproduction_steps": "", "player_number": 0, "test_step": 2,
        "turn": 3, "detected_at": "2026-03-01T08:30:00+00:00", "details": {},
    })
}
