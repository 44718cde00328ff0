//! Where traces are sent. OpenTelemetry defines the variables; its library reads those that are not named here.

use std::path::PathBuf;

use url::Url;

use super::{
    http_definitions::{OTLP_ENDPOINT, OTLP_TRACES_ENDPOINT, SDK_DISABLED, TRACES_EXPORTER},
    parser::SettingParser,
    setting::Setting,
    values::Values,
};

/// Path of traces below the address of a collector.
const TRACES_PATH: &str = "v1/traces";

/// Where traces are sent.
#[derive(Clone, Debug)]
pub struct TraceSettings {
    /// Complete address to which spans are sent.
    pub endpoint: Url,
    /// PEM file of certificates that are trusted in addition to the system's.
    pub ca_file: Option<PathBuf>,
}

/// Returns the setting that names the collector; `None` if there is none or traces are switched off.
pub(super) fn collector_setting(values: &Values) -> Option<&'static Setting> {
    let is_off = values.text(&SDK_DISABLED).is_some_and(|text| text.eq_ignore_ascii_case("true"))
        || values.text(&TRACES_EXPORTER) == Some("none");
    let mut settings = [&OTLP_TRACES_ENDPOINT, &OTLP_ENDPOINT].into_iter().filter(|_| !is_off);
    settings.find(|setting| values.contains(setting))
}

/// Parses where traces are sent. A program without the feature `otlp` ignores the settings, whatever they contain.
pub(super) fn trace_settings(
    parser: &mut SettingParser<'_>,
    ca_file: Option<PathBuf>,
) -> Option<TraceSettings> {
    let setting = collector_setting(parser.values()).filter(|_| cfg!(feature = "otlp"))?;
    let parse = if setting.name() == OTLP_ENDPOINT.name() { below_collector } else { endpoint };
    let endpoint = parser.optional(setting, parse)?;

    Some(TraceSettings { endpoint, ca_file })
}

fn below_collector(text: &str) -> Result<Url, String> {
    let collector = endpoint(text)?;
    let separator = if collector.path().ends_with('/') { "" } else { "/" };
    endpoint(&format!("{collector}{separator}{TRACES_PATH}"))
}

/// Parses an address of a collector. The reason of a problem does not quote it, because parts of it may be secret.
fn endpoint(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.ok_or("must be an address such as http://127.0.0.1:4318")?;

    let is_plain = url.username().is_empty() && url.password().is_none();
    if !is_plain || url.query().is_some() || url.fragment().is_some() {
        return Err("must not have a user name, password, query or fragment: credentials belong in `OTEL_EXPORTER_OTLP_HEADERS`".to_owned());
    }

    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_sent_to_a_path_below_the_collector() {
        for (text, expected) in [
            ("http://127.0.0.1:4318", Some("http://127.0.0.1:4318/v1/traces")),
            ("https://collector.example/otlp", Some("https://collector.example/otlp/v1/traces")),
            ("https://collector.example/otlp/", Some("https://collector.example/otlp/v1/traces")),
            ("collector:4317", None),
            ("grpc://collector:4317", None),
            ("https://name:planted@collector.example", None),
            ("https://collector.example/?key=planted", None),
        ] {
            let parsed = below_collector(text);
            assert_eq!(parsed.as_ref().ok().map(Url::as_str), expected, "{text}");
            assert!(parsed.err().is_none_or(|reason| !reason.contains("planted")), "{text}");
        }
    }
}
