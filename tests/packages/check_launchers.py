"""Compares installed packages with the binary: output and exit codes, the end of input, and signals.
Usage: check_launchers.py BINARY LAUNCHER..., of which each one is a command line"""

import json
import shlex
import signal
import subprocess
import sys

# A job that is running.
JOB = "fc3a0611-66b1-46a6-ac1c-51f6f144ac87"

COMMANDS = ["--version", "--sandbox tests", "--sandbox show nothing", "nonsense", "runs", "--base-url http://127.0.0.1:9 runs"]

INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}


def finished(program, arguments):
    run = subprocess.run([*program, *arguments.split()], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return run.returncode, run.stdout, run.stderr


def started(program, arguments):
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen([*program, *arguments.split()], **pipes, text=True)


def server_ended_by(program, end):
    """Returns the exit code of a server that has answered, and which `end` then ends."""
    with started(program, "--sandbox") as server:
        # The server listens for signals before it reads the second request.
        for number, (method, params) in enumerate([("initialize", INITIALIZE), ("ping", {})]):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
            server.stdin.flush()
            assert "result" in json.loads(server.stdout.readline())
        end(server)
        return server.wait(timeout=10)


def wait_ended_by(program, number):
    """Returns the exit code of a command that waits, after a signal."""
    with started(program, f"--sandbox wait {JOB}") as command:
        # Progress is printed when the command listens for signals.
        command.stderr.readline()
        command.send_signal(number)
        return command.wait(timeout=10)


def behaviour(program):
    """Returns what a launcher must not change."""
    ends = {"input": lambda server: server.stdin.close()}
    ends |= {number.name: lambda server, number=number: server.send_signal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    return {
        "commands": [finished(program, arguments) for arguments in COMMANDS],
        "servers": {name: server_ended_by(program, end) for name, end in ends.items()},
        "waits": [wait_ended_by(program, number) for number in (signal.SIGINT, signal.SIGTERM)],
    }


def main(binary, *launchers):
    expected = behaviour([binary])
    for launcher in map(shlex.split, launchers):
        actual = behaviour(launcher)
        assert actual == expected, f"{launcher}: {actual}, not {expected}"
        print(f"ok      {shlex.join(launcher)}: output, exit codes, end of input and signals are those of the binary")


main(*sys.argv[1:])
