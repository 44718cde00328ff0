#!/usr/bin/env python3
"""Completes command lines in a real shell on a pseudo-terminal. Usage: check.py BINARY SHELL"""

import json
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

KEY = "svc_sandbox_demo"
TIME_LIMIT_S = 20
PROMPT = b"READY>"
CONTROL_A = "\x01"

# What is typed before the tabulator, and the words of the completed command line without the name of the program.
CASES = {
    "a subcommand": ("rep", ["report"]),
    "a tool": ("call get_li", ["call", "get_live_run"]),
    "a flag": ("report --ht", ["report", "--html"]),
    "a flag of a tool": ("call get_run --run-", ["call", "get_run", "--run-id"]),
    "a setting": ("run test --knowl", ["run", "test", "--knowledge-url"]),
    "an enumeration value": ("call list_bugs --severity cri", ["call", "list_bugs", "--severity", "critical"]),
    "a value after an equals sign": ("--confirm=ne", ["--confirm=never"]),
    "a word of a list": ("--toolsets lean,ru", ["--toolsets", "lean,runs"]),
    "a shell": ("completions fi", ["completions", "fish"]),
    "a file with a space": ("report --html rep", ["report", "--html", "report one.html"]),
    "a directory": ("--files-root pic", ["--files-root", "pictures/"]),
    "a name with spaces": ("run test Pau", ["run", "test", "Pause and resume"]),
    "a name in quotes": ('run test "Pause a', ["run", "test", "Pause and resume"]),
    "a name in single quotes": ("run test 'Pause a", ["run", "test", "Pause and resume"]),
    "a name with a colon": ("run test Co-", ["run", "test", "Co-op: light the beacon"]),
    "a name after a backslash": ("run test Pause\\ an", ["run", "test", "Pause and resume"]),
    "a name after another argument": ("run plan --wait Rel", ["run", "plan", "--wait", "Release smoke"]),
    "an id": ("run test --device bb2a", ["run", "test", "--device",
                                                      "bb2adece-e2ad-49af-a023-29c3643ce7f5"]),
    "the id of a run": ("report ezhz", ["report", "ezhzy9x6eq4"]),
    "nothing for an unknown word": ("report zzz", ["report", "zzz"]),
}

# Names of plans that begin like "Release smoke". None of them is offered, so that no shell runs a part of one.
HOSTILE_NAMES = [
    "Rel'$(touch PWNED)'x", 'Rel"$(touch PWNED)"', "Rel`touch PWNED`", "Rel!touch", "Rel\\", "Rel\u2019; touch PWNED; \u2018",
]
# The shell or the script quotes what separates words and commands.
SEPARATED_NAME = "Odd; touch PWNED & (touch PWNED) | <x> #*?[a]{b,c}~"
CASES |= {
    "a name with separators": ("run plan Odd", ["run", "plan", SEPARATED_NAME]),
    "a name with separators in double quotes": ('run plan "Odd', ["run", "plan", SEPARATED_NAME]),
    "a name with separators in single quotes": ("run plan 'Odd", ["run", "plan", SEPARATED_NAME]),
    "the name of a plan for a report": ("report Rel", ["report", "Release smoke"]),
    "a plan beside hostile names": ("run plan Rel", ["run", "plan", "Release smoke"]),
    "a plan in double quotes beside hostile names": ('run plan "Rel', ["run", "plan", "Release smoke"]),
    "a plan in single quotes beside hostile names": ("run plan 'Rel", ["run", "plan", "Release smoke"]),
}

# A backslash is a plain character in elvish.
WITHOUT = {"elvish": ["a name after a backslash"]}

STARTS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set enable-bracketed-paste off'; PS1='READY>'; source <(tas-mcp completions bash)"),
    "zsh": (["zsh", "-f", "-i"],
            "unsetopt zle_bracketed_paste; PS1='READY>'; autoload -Uz compinit; compinit -u -D; "
            "source <(tas-mcp completions zsh)"),
    # The shell offers a word that needs quotes in a menu, from which the test takes it.
    "elvish": (["elvish", "-norc"],
               "set edit:prompt = { put 'READY>' }; set edit:rprompt = { }; "
               "set edit:insert:binding[Ctrl-A] = $edit:move-dot-sol~; "
               "set edit:completion:binding[Ctrl-A] = { edit:completion:accept; edit:move-dot-sol }; "
               "eval (tas-mcp completions elvish | slurp)"),
    "fish": (["fish", "--no-config", "-i"],
             "function fish_prompt; echo -n 'READY>'; end; tas-mcp completions fish | source"),
}


def fail(message):
    sys.exit(f"completions: {message}")


class Sandbox:
    """A running sandbox."""

    def __init__(self, binary):
        command = [binary, "sandbox", "--listen", "127.0.0.1:0", "--speed", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            found = re.search(r"http://\S+/api/v1", line)
            if found:
                self.base_url = found.group()
                return
        fail("the sandbox did not start")

    def request(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"X-Api-Key": KEY, "Content-Type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(self.base_url + path, data, headers)) as answer:
            return json.load(answer)

    def add_plans(self, names):
        """Adds plans with these names and the tests of the first one."""
        first = self.request("/test-plans")["data"][0]["id"]
        items = self.request(f"/test-plans/{first}")["test_items"]
        for name in names:
            self.request("/test-plans", {"test_plan": {"name": name, "test_items": items}})

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Terminal:
    """An interactive shell on a pseudo-terminal."""

    def __init__(self, shell, directory, variables):
        self.pipe_path = directory / "words"
        os.mkfifo(self.pipe_path)
        # Open for both, so that the end of a writer is not the end of the pipe.
        self.pipe = os.open(self.pipe_path, os.O_RDWR | os.O_NONBLOCK)
        command, setup = STARTS[shell]
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(directory / "work")
            os.execvpe(command[0], command, variables)
        self.output = b""
        self.type("\r")
        self.read_until(lambda: len(self.output) > 0)
        self.type(setup + "\r")
        self.read_until(lambda: self.output.count(PROMPT) >= 2)

    def type(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, is_done):
        end = time.monotonic() + TIME_LIMIT_S
        while not is_done():
            ready = select.select([self.terminal, self.pipe], [], [], max(0, end - time.monotonic()))[0]
            if not ready:
                fail(f"no answer of the shell: {self.output[-2000:].decode(errors='replace')}")
            if self.terminal in ready:
                self.output += os.read(self.terminal, 65536)
            if self.pipe in ready:
                return

    def completed(self, typed):
        """Returns the words of the command line after the tabulator."""
        self.output = b""
        self.type(f"tas-mcp {typed}\t")
        # The shell runs this command with the completed line as its arguments.
        self.type(f"{CONTROL_A}show-words \r")
        self.read_until(lambda: False)
        words = b""
        while not words.endswith(b"\0\n"):
            select.select([self.pipe], [], [], TIME_LIMIT_S)
            words += os.read(self.pipe, 65536)
        self.read_until(lambda: PROMPT in self.output)
        return words[:-2].decode().split("\0")[:-1]


def main():
    binary, shell = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    directory = pathlib.Path(tempfile.mkdtemp())
    (directory / "bin").mkdir()
    (directory / "bin/tas-mcp").symlink_to(binary)
    show_words = directory / "bin/show-words"
    show_words.write_text(f"#!/bin/sh\nprintf '%s\\0' \"$@\" end > '{directory}/text'\n"
                          f"printf '\\0\\n' >> '{directory}/text'\ncat '{directory}/text' > '{directory}/words'\n")
    show_words.chmod(0o755)
    (directory / "work/pictures").mkdir(parents=True)
    (directory / "work/report one.html").write_text("")

    sandbox = Sandbox(str(binary))
    sandbox.add_plans([*HOSTILE_NAMES, SEPARATED_NAME])
    variables = {
        "PATH": f"{directory}/bin:{os.environ['PATH']}", "HOME": str(directory), "TERM": "xterm", "LANG": "C.UTF-8",
        "TAS_BASE_URL": sandbox.base_url, "TAS_API_KEY": KEY,
    }
    failures = []
    try:
        terminal = Terminal(shell, directory, variables)
        cases = {name: case for name, case in CASES.items() if name not in WITHOUT.get(shell, [])}
        for name, (typed, expected) in cases.items():
            words = terminal.completed(typed)
            if words[:-1] != ["tas-mcp", *expected]:
                failures.append(f"{name}: `{typed}` became {words[1:-1]} instead of {expected}")
        if (directory / "work/PWNED").exists():
            failures.append("a part of a name was run")
    finally:
        sandbox.stop()
        shutil.rmtree(directory, ignore_errors=True)

    if failures:
        fail(f"{shell}:\n" + "\n".join(failures))
    print(f"{shell}: {len(cases)} command lines completed")


main()
