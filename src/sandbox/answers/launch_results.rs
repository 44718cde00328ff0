//! The result of a start on several devices.

use http::StatusCode;

use crate::{
    sandbox::{
        answers::answered::Answered,
        model::{device_config::Device, dialect::Dialect},
    },
    service::api::run_start::{DeviceResult, StartRunResponse},
};

/// Returns the row of a device on which jobs were created.
pub(super) fn started(device: &Device, job_ids: &[String]) -> DeviceResult {
    let data = StartRunResponse { job_ids: job_ids.to_vec(), ..StartRunResponse::default() };
    DeviceResult {
        device_label: device.label.clone(),
        ok: true,
        status: Some(StatusCode::CREATED.as_u16()),
        message: Some("queued".to_owned()),
        error: None,
        data: Some(Box::new(data)),
    }
}

/// Returns the row of a device that is out of order.
pub(super) fn not_started(device: &Device, dialect: Dialect) -> DeviceResult {
    // The failure text is in either field (service.md 1.7). Each dialect uses one of them.
    let text = Some("device could not be started".to_owned());
    let (message, error) = if dialect == Dialect::Upper { (text, None) } else { (None, text) };
    let status = Some(StatusCode::INTERNAL_SERVER_ERROR.as_u16());

    DeviceResult { device_label: device.label.clone(), ok: false, status, message, error, data: None }
}

/// Returns the response to a start on several devices: the result of each device, counts, and a status by the counts.
pub(super) fn with_device_results(
    body: StartRunResponse,
    rows: Vec<DeviceResult>,
    ephemeral: bool,
) -> Answered<StartRunResponse> {
    let requested = rows.len();
    let started = rows.iter().filter(|row| row.ok).count();
    let status = match started {
        0 => StatusCode::INTERNAL_SERVER_ERROR,
        all if all == requested => StatusCode::CREATED,
        _ => StatusCode::MULTI_STATUS,
    };
    // The rows of ephemeral starts have another name (service.md 2.1).
    let (results, device_runs) = if ephemeral { (None, Some(rows)) } else { (Some(rows), None) };
    let body = StartRunResponse {
        ok: Some(started > 0),
        message: None,
        test_id: body.test_id.filter(|_| started > 0),
        requested_count: Some(requested),
        started_count: Some(started),
        successful_count: (!ephemeral).then_some(started),
        failed_count: Some(requested - started),
        results,
        device_runs,
        ..body
    };

    Answered::json(status, body)
}
