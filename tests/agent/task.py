"""Tasks of the evaluation: what a person asks for, and how to judge the end."""

from dataclasses import dataclass, field
from typing import Callable

TASKS = []


@dataclass
class Task:
    """A task.

    `solve` is the scripted solution. It calls tools and returns the answer to the person. `judge` returns the reasons why
    the end state or the answer is wrong. `prepare` creates the start state; its result is passed to both.
    """

    name: str
    words: str
    minimum: int
    solve: Callable
    judge: Callable
    prepare: Callable = lambda sandbox: None
    settings: dict = field(default_factory=dict)


def task(words, minimum, **more):
    """Registers the functions `solve` and `judge` of a class as a task."""

    def register(definition):
        functions = {name: vars(definition)[name] for name in ("solve", "judge")}
        if "prepare" in vars(definition):
            functions["prepare"] = vars(definition)["prepare"]
        TASKS.append(Task(name=definition.__name__, words=words, minimum=minimum, **functions, **more))
        return definition

    return register


def find(call, *names, kinds=None):
    """Returns the id of the first record for each name."""
    more = {"kinds": kinds} if kinds else {}
    answer = call("find_by_name", names=list(names), **more)
    return [result["records"][0]["id"] for result in answer["results"]]


def lacks(answer, *texts):
    """Returns a reason for each text that the answer to the person does not contain."""
    return [f"the answer lacks {text!r}" for text in texts if text.lower() not in answer.lower()]


def started(sandbox, test, count=1):
    """Returns a reason unless exactly `count` queued jobs of the test were added to the example data."""
    queued = [job for job in sandbox.list("/jobs?status=queued") if job.get("test_name") == test]
    before = {"Co-op: light the beacon": 1, "Cross-play: three lanterns": 1, "Explore the Ashen Woods": 1}
    before["Pause and resume"] = 1
    added = len(queued) - before.get(test, 0)
    return [] if added == count else [f"{added} jobs of {test!r} were started, not {count}"]
