"""Keys of the sandbox (src/sandbox/access.rs). They are no secrets."""

DEMO = "svc_sandbox_demo"
ORGANIZATION = "svc_org_sandbox"

# What a share of the requests is sent with: these have to be refused as the document says.
WEAK = [None, "no key at all", "svc_sandbox_demo_expired", "svc_sandbox_demo_disabled", "svc_sandbox_demo_powerless"]
