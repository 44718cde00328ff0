//! The list of the settings of `tas-mcp http`.

use super::setting::Setting;

pub(super) const LISTEN: Setting = Setting {
    variable: "TAS_HTTP_LISTEN",
    flag: "listen",
    value: "ADDR",
    meaning: "Address and port to listen on; port 0 selects a free port",
    default: "127.0.0.1:8900",
};
pub(super) const ADMIN: Setting = Setting {
    variable: "TAS_HTTP_ADMIN",
    flag: "admin",
    value: "ADDR",
    meaning: "Address and port of /healthz, /readyz and /metrics; `off` for none",
    default: "127.0.0.1:8901",
};
pub(super) const PUBLIC_URL: Setting = Setting {
    variable: "TAS_HTTP_PUBLIC_URL",
    flag: "public-url",
    value: "URL",
    meaning: "Origin under which clients reach the server, such as `https://tas.example.com`. Requests with its host are served",
    default: "",
};
pub(super) const ALLOWED_HOSTS: Setting = Setting {
    variable: "TAS_HTTP_ALLOWED_HOSTS",
    flag: "allowed-hosts",
    value: "HOSTS",
    meaning: "Comma-separated further hosts that requests may name, each with or without a port",
    default: "this machine and the host of the public URL",
};
pub(super) const ALLOWED_ORIGINS: Setting = Setting {
    variable: "TAS_HTTP_ALLOWED_ORIGINS",
    flag: "allowed-origins",
    value: "ORIGINS",
    meaning: "Comma-separated further origins of web pages that may call the server. If the server has a key of its own, pages of this machine must be named too",
    default: "this machine and the public URL",
};
pub(super) const TRUSTED_PROXIES: Setting = Setting {
    variable: "TAS_HTTP_TRUSTED_PROXIES",
    flag: "trusted-proxies",
    value: "NETWORKS",
    meaning: "Comma-separated networks, such as `10.0.0.0/8`, of proxies whose `X-Forwarded-For` states the address of the client",
    default: "",
};
pub(super) const MAX_BODY: Setting = Setting {
    variable: "TAS_HTTP_MAX_BODY",
    flag: "max-body",
    value: "BYTES",
    meaning: "Largest body of a request, 1024 to 67108864 bytes",
    default: "4194304",
};
pub(super) const CONCURRENCY: Setting = Setting {
    variable: "TAS_HTTP_CONCURRENCY",
    flag: "concurrency",
    value: "NUMBER",
    meaning: "Requests of one credential that are served at the same time",
    default: "64",
};
pub(super) const RATE: Setting = Setting {
    variable: "TAS_HTTP_RATE",
    flag: "rate",
    value: "NUMBER",
    meaning: "Requests per second of one credential. Three times as many may arrive at once",
    default: "20",
};
pub(super) const MAX_CALLS: Setting = Setting {
    variable: "TAS_HTTP_MAX_CALLS",
    flag: "max-calls",
    value: "NUMBER",
    meaning: "Requests of all clients that are served at the same time. At most half of them wait for runs",
    default: "512",
};
pub(super) const DRAIN_S: Setting = Setting {
    variable: "TAS_HTTP_DRAIN_S",
    flag: "drain-s",
    value: "SECONDS",
    meaning: "How long calls under way may continue after SIGTERM, 0 to 600 seconds. In the first half of this time, at most 5 s, further requests are accepted",
    default: "25",
};

pub(super) const OAUTH_ISSUER: Setting = Setting {
    variable: "TAS_OAUTH_ISSUER",
    flag: "oauth-issuer",
    value: "URL",
    meaning: "Issuer that signs in persons. With an issuer every bearer token is a user token, and requests without a credential are answered with 401",
    default: "",
};
pub(super) const OAUTH_AUDIENCE: Setting = Setting {
    variable: "TAS_OAUTH_AUDIENCE",
    flag: "oauth-audience",
    value: "TEXT",
    meaning: "Audience that user tokens must name",
    default: "the address of the endpoint, or a parent of it",
};
pub(super) const OAUTH_SCOPES: Setting = Setting {
    variable: "TAS_OAUTH_SCOPES",
    flag: "oauth-scopes",
    value: "SCOPES",
    meaning: "Comma-separated scopes that every user token must have",
    default: "",
};
pub(super) const GRANTS_FILE: Setting = Setting {
    variable: "TAS_GRANTS_FILE",
    flag: "grants-file",
    value: "FILE",
    meaning: "TOML file that states which signed-in persons may use which API key. A changed file counts within 3 s",
    default: "",
};
pub(super) const SHARED_URL: Setting = Setting {
    variable: "TAS_SHARED_URL",
    flag: "",
    value: "URL",
    meaning: "Redis or Valkey, `redis://HOST:6379` or `rediss://USER:PASSWORD@HOST:6379/0` with TLS, in which several processes remember calls of unknown outcome together",
    default: "",
};

pub(super) const OTLP_ENDPOINT: Setting = Setting {
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    flag: "",
    value: "URL",
    meaning: "Collector of traces, such as `http://127.0.0.1:4318`: spans are sent to `/v1/traces` below it. Needs a program that was built with the feature `otlp`",
    default: "",
};
pub(super) const OTLP_TRACES_ENDPOINT: Setting = Setting {
    variable: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    flag: "",
    value: "URL",
    meaning: "Complete address to which spans are sent, in place of the one below the collector",
    default: "",
};
pub(super) const TRACES_EXPORTER: Setting = Setting {
    variable: "OTEL_TRACES_EXPORTER",
    flag: "",
    value: "WORD",
    meaning: "`none`: no spans are sent",
    default: "otlp",
};
pub(super) const SDK_DISABLED: Setting = Setting {
    variable: "OTEL_SDK_DISABLED",
    flag: "",
    value: "BOOLEAN",
    meaning: "`true`: no spans are sent",
    default: "false",
};

/// The settings of `tas-mcp http`, in the order of the documentation.
pub const HTTP_SETTINGS: [&Setting; 20] = [
    &LISTEN,
    &ADMIN,
    &PUBLIC_URL,
    &ALLOWED_HOSTS,
    &ALLOWED_ORIGINS,
    &TRUSTED_PROXIES,
    &MAX_BODY,
    &CONCURRENCY,
    &RATE,
    &MAX_CALLS,
    &DRAIN_S,
    &OAUTH_ISSUER,
    &OAUTH_AUDIENCE,
    &OAUTH_SCOPES,
    &GRANTS_FILE,
    &SHARED_URL,
    &OTLP_ENDPOINT,
    &OTLP_TRACES_ENDPOINT,
    &TRACES_EXPORTER,
    &SDK_DISABLED,
];
