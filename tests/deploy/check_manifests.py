"""Checks compose.yaml with its specification, and what no schema can: names and ports that manifests refer to,
addresses that files share, and files that the image is built from. Usage: check_manifests.py"""

import re
from pathlib import Path

import yaml
from compose_spec import PyOptions

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"


def read(name):
    return yaml.safe_load((DEPLOY / "kubernetes" / name).read_text())


def check_kubernetes():
    kustomization = read("kustomization.yaml")
    files = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")} - {"kustomization.yaml"}
    assert set(kustomization["resources"]) == files, files

    deployment = read("deployment.yaml")["spec"]
    pod = deployment["template"]["spec"]
    container = pod["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    labels = deployment["template"]["metadata"]["labels"]
    settings = {entry["name"]: entry["value"] for entry in container["env"]}
    assert settings["TAS_HTTP_LISTEN"] == f"0.0.0.0:{ports['mcp']}"
    assert settings["TAS_HTTP_ADMIN"] == f"0.0.0.0:{ports['admin']}"
    for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert container[probe]["httpGet"] == {"path": path, "port": "admin"}, probe
    # Calls end within 25 s after SIGTERM.
    assert pod["terminationGracePeriodSeconds"] >= 40

    assert [image["name"] for image in kustomization["images"]] == [container["image"]]
    generated = {generator["name"] for generator in kustomization["configMapGenerator"]}
    assert {source["configMapRef"]["name"] for source in container["envFrom"]} == generated

    service = read("service.yaml")
    for selector in (
        deployment["selector"]["matchLabels"],
        service["spec"]["selector"],
        read("disruption-budget.yaml")["spec"]["selector"]["matchLabels"],
        read("network-policy.yaml")["spec"]["podSelector"]["matchLabels"],
        *(constraint["labelSelector"]["matchLabels"] for constraint in pod["topologySpreadConstraints"]),
    ):
        assert selector.items() <= labels.items(), selector

    assert [port["targetPort"] for port in service["spec"]["ports"]] == ["mcp"]
    rule = read("ingress.yaml")["spec"]["rules"][0]
    for path in rule["http"]["paths"]:
        backend = path["backend"]["service"]
        assert backend["name"] == service["metadata"]["name"]
        assert backend["port"]["name"] in {port["name"] for port in service["spec"]["ports"]}
    assert f"TAS_HTTP_PUBLIC_URL=https://{rule['host']}" in kustomization["configMapGenerator"][0]["literals"]
    for entry in read("network-policy.yaml")["spec"]["ingress"]:
        assert all(port["port"] in ports for port in entry["ports"])


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
check_kubernetes()
print("ok      Kubernetes: names, ports and selectors match")
check_compose()
print("ok      compose.yaml: specification, and the addresses of nginx.conf")
