"""Keys of the sandbox (src/sandbox/http/authentication.rs). They are not secret."""

DEMO = "svc_sandbox_demo"
ORGANIZATION = "svc_org_sandbox"

# Keys that the sandbox must refuse as the document specifies. A share of the requests is sent with them.
WEAK = [None, "no key at all", "svc_sandbox_demo_expired", "svc_sandbox_demo_disabled", "svc_sandbox_demo_powerless"]
