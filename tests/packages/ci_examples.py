"""The steps of the files in `examples/ci/`, as their CI systems run them."""

import re
import textwrap
from dataclasses import dataclass, field

from ruamel.yaml import YAML

# What the comments of the files ask for.
SECRETS = {"TAS_API_KEY"}


@dataclass
class Step:
    """A script, with the options of its shell and the variables that it sees. One that is `always` run follows a failure too."""

    script: str
    variables: dict
    options: list = field(default_factory=list)
    always: bool = False


def github(text, values):
    """Returns the steps of a workflow, and the paths of the artifacts."""
    job = YAML(typ="safe").load(text)["jobs"]["play"]
    steps, artifacts = [], []
    for step in job["steps"]:
        always = step.get("if") == "always()"
        if step.get("uses", "").startswith("actions/upload-artifact@"):
            assert always, "the artifacts of a failed job are needed most"
            artifacts = step["with"]["path"].split()
        elif "run" in step:
            variables = {**job["env"], **step.get("env", {})}
            variables = {name: github_value(expression, values) for name, expression in variables.items()}
            # The shell that the file selects runs with these options.
            steps.append(Step(step["run"], variables, ["--noprofile", "--norc", "-eo", "pipefail"], always))
    return steps, artifacts


def github_value(expression, values):
    kind, name = re.fullmatch(r"\$\{\{ (secrets|vars)\.(\w+) \}\}", expression).groups()
    assert (kind == "secrets") == (name in SECRETS), expression
    return values[name]


def gitlab(text, values):
    """Returns the one script of the job, and the paths of the artifacts. GitLab passes every variable to every job."""
    job = YAML(typ="safe").load(text)["game-tests"]
    assert job["artifacts"]["when"] == "always"
    artifacts = [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]
    return [Step("\n".join(job["before_script"] + job["script"]), values)], artifacts


def jenkins(text, values):
    """Returns the `sh` steps of the pipeline, and the paths of the reports."""
    steps = []
    for part in re.split(r"(?=\bstage\(|\bpost \{)", text):
        secrets = [name for name in SECRETS if f"{name} = credentials(" in part or f"variable: '{name}'" in part]
        scripts = re.findall("sh '''(.*?)'''", part, re.DOTALL)
        assert scripts or not secrets, "a secret is there for every stage"
        visible = {name: value for name, value in values.items() if name not in SECRETS or name in secrets}
        # Groovy joins a line that ends in a backslash with the next one.
        scripts = [textwrap.dedent(script.replace("\\\n", "")) for script in scripts]
        steps += [Step(script, visible, always=part.startswith("post")) for script in scripts]
    post = text.split("    post {\n")[1]
    assert len(steps) == text.count("sh '") and all(step.script.startswith("#!/bin/bash\n") for step in steps)
    artifacts = re.search("junit testResults: '(.*?)'", post)[1], *re.search("artifacts: '(.*?)'", post)[1].split(", ")
    return steps, list(artifacts)


EXAMPLES = {"github-actions.yml": github, "gitlab-ci.yml": gitlab, "Jenkinsfile": jenkins}
