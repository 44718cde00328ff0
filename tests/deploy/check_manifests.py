"""Checks compose.yaml with its specification, the addresses that files share, and the files that the image is built from. Usage: check_manifests.py"""

import re
from pathlib import Path

import yaml
from compose_spec import PyOptions

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def check_compose():
    text = (DEPLOY / "compose.yaml").read_text()
    options = PyOptions()
    # The merge keys of YAML.
    options.apply_merge = True
    options.from_yaml(text).validate()

    compose = yaml.safe_load(text)
    services = compose["services"]
    replicas = {name: service for name, service in services.items() if name != "nginx"}
    assert set(replicas) == {f"tas-mcp-{number}" for number in (1, 2, 3)} == set(services["nginx"]["depends_on"])
    addresses = [service["networks"]["calls"]["ipv4_address"] for service in replicas.values()]
    configuration = (DEPLOY / "nginx.conf").read_text()
    assert re.findall(r"^ *server (\S+);$", configuration, re.MULTILINE) == [f"{one}:8900" for one in addresses]

    nginx = services["nginx"]["networks"]["calls"]["ipv4_address"]
    for service in replicas.values():
        assert service["environment"]["TAS_HTTP_TRUSTED_PROXIES"] == f"{nginx}/32"
        assert service["read_only"] and service["cap_drop"] == ["ALL"] and service["stop_grace_period"] == "40s"
        assert service["healthcheck"]["test"][-1].endswith(":8901/healthz")


def check_image():
    sources = {"Cargo.toml", "Cargo.lock", "skills", "src"}
    copies = re.findall(r"^COPY (?!--)(.*) \S+$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    # The files of `FILES=prepared` are in the same build context.
    copied = {name.rstrip("/") for line in copies for name in line.split()}
    assert sources <= copied, sources - copied

    context = (DEPLOY / "Containerfile.dockerignore").read_text()
    admitted = set(re.findall(r"^!(\S+)$", context, re.MULTILINE))
    assert copied <= admitted, f"the build context is without {copied - admitted}"


check_image()
print("ok      Containerfile: the build context has every file of the source")
check_compose()
print("ok      compose.yaml: specification, and the addresses of nginx.conf")
