#!/usr/bin/env python3
"""Runs the tasks of the evaluation with a scripted driver or with a model.

usage: run.py SERVER [--model COMMAND] [--task NAME ...] [--record DIRECTORY]

The scripted driver must solve each task with its minimum number of calls. README.md describes the command of a model.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import tasks  # noqa: F401
from session import Sandbox, Session
from task import TASKS

#: Largest number of calls for one task.
MAX_CALLS = 25

#: Longest time of a model for one turn, in seconds.
TURN_LIMIT = 300


class Attempt:
    """One attempt at a task: the calls so far, and what the driver has read."""

    def __init__(self, session, task):
        self.session, self.task, self.turns, self.characters = session, task, [], 0

    def call(self, tool, arguments):
        if len(self.turns) == MAX_CALLS:
            raise RuntimeError(f"more than {MAX_CALLS} calls")
        text, failed = self.session.call(tool, arguments)
        self.characters += len(text)
        self.turns.append({"tool": tool, "arguments": arguments, "reply": text, "failed": failed})
        return json.loads(text)

    def transcript(self):
        """Returns what a model reads before its next turn."""
        session = self.session
        keys = ("name", "description", "inputSchema")
        tools = [{key: tool[key] for key in keys} for tool in session.tools]
        return {"task": self.task.words, "instructions": session.instructions, "tools": tools, "turns": self.turns}


def drive_by_script(attempt, state):
    return attempt.task.solve(lambda tool, **arguments: attempt.call(tool, arguments), state)


def drive_by_model(attempt, command):
    """Asks the command for the next call until it answers the person."""
    while True:
        turn = subprocess.run(
            command, shell=True, text=True, capture_output=True, timeout=TURN_LIMIT,
            input=json.dumps(attempt.transcript()),
        )
        if turn.returncode != 0:
            raise RuntimeError(f"the model ended with status {turn.returncode}: {turn.stderr.strip()}")
        turn = json.loads(turn.stdout)
        if "answer" in turn:
            return turn["answer"]
        attempt.call(turn["tool"], turn["arguments"])


def run(task, arguments):
    """Returns the attempt at a task and the reasons why its end is wrong."""
    with Sandbox(arguments.server) as sandbox:
        state = task.prepare(sandbox)
        if not task.judge(sandbox, state, ""):
            raise SystemExit(f"{task.name}: the judge accepts the start state")

        with Session(arguments.server, sandbox, task.settings) as session:
            attempt = Attempt(session, task)
            try:
                if arguments.model:
                    answer = drive_by_model(attempt, arguments.model)
                else:
                    answer = drive_by_script(attempt, state)
                problems = task.judge(sandbox, state, answer)
            except (LookupError, RuntimeError, TypeError, ValueError, subprocess.TimeoutExpired) as error:
                answer, problems = "", [f"{type(error).__name__}: {error}"]

    if not arguments.model and len(attempt.turns) != task.minimum:
        problems = [*problems, f"{len(attempt.turns)} calls instead of {task.minimum}"]
    if arguments.record:
        record = {"turns": attempt.turns, "answer": answer}
        (pathlib.Path(arguments.record) / f"{task.name}.json").write_text(json.dumps(record))
    return attempt, problems


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("server")
    parser.add_argument("--model")
    parser.add_argument("--task", action="append", default=[])
    parser.add_argument("--record")
    arguments = parser.parse_args()

    chosen = [task for task in TASKS if not arguments.task or task.name in arguments.task]
    calls = minimum = characters = failed = 0
    for task in chosen:
        attempt, problems = run(task, arguments)
        calls, minimum = calls + len(attempt.turns), minimum + task.minimum
        characters += attempt.characters
        failed += bool(problems)
        print(f"{'FAILED' if problems else 'ok':6} {task.name}: {len(attempt.turns)} calls, minimum {task.minimum}")
        for problem in problems:
            print(f"       {problem}")

    print(f"{len(chosen) - failed} of {len(chosen)} tasks solved, {calls} calls (minimum {minimum}), "
          f"{characters} characters of replies")
    sys.exit(failed > 0 or not chosen)


if __name__ == "__main__":
    main()
