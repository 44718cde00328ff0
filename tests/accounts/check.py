"""Signs in, uses the stored key and signs out, with the keychain of the session. Usage: check.py BINARY"""

import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

TIME_LIMIT_S = 60
COLLECTION = "/org/freedesktop/secrets/collection/login"
INITIALIZE = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}}


class Listener(HTTPServer):
    """A server that must receive no request."""

    def __init__(self):
        self.requests = requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                self.send_error(500)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def address(self):
        return f"http://127.0.0.1:{self.server_port}/api/v1"


class Check:
    def __init__(self, binary):
        self.binary = binary
        self.sandbox = subprocess.Popen([binary, "sandbox", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
        self.base_url = self.exported("TAS_BASE_URL")
        self.key = self.exported("TAS_API_KEY")

    def exported(self, name):
        """Returns a value from the lines that the sandbox prints for a terminal."""
        for line in self.sandbox.stdout:
            if found := re.search(rf"export {name}=(\S+)", line):
                return found[1]
        raise AssertionError(f"the sandbox prints no {name}")

    def run(self, *arguments, status=0, text=None):
        """Runs a command. Returns its output and its errors, which contain no key."""
        done = subprocess.run([self.binary, *arguments], input=text, capture_output=True, text=True, timeout=TIME_LIMIT_S)
        assert self.key not in done.stdout + done.stderr, arguments
        assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
        return done.stdout, done.stderr

    def login(self):
        output, _ = self.run("login", "--with-key", "--base-url", self.base_url, text=self.key + "\n")
        return json.loads(output)

    def call_server(self):
        """Starts the server as a host does, without a variable, and calls a tool."""
        call = {"name": "list_tests", "arguments": {}}
        messages = [
            {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": INITIALIZE},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        ]
        server = subprocess.Popen([self.binary], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            server.stdin.write("".join(json.dumps(message) + "\n" for message in messages))
            # The input stays open, because its end cancels a call that takes long.
            server.stdin.flush()
            answers = (json.loads(line) for line in server.stdout)
            return next(answer["result"] for answer in answers if answer.get("id") == 1)
        finally:
            server.kill()
            server.wait()

    def check(self):
        account = self.login()
        assert (account["account"], account["stored_in"]) == ("default", "keychain"), account
        configuration = Path(os.environ["XDG_CONFIG_HOME"]) / "tas-mcp"
        assert not any(self.key in file.read_text() for file in configuration.iterdir())
        assert not (configuration / "keys.json").exists()

        self.check_use()
        self.check_other_address()
        self.check_logout()
        self.check_locked_keychain()

    def check_use(self):
        assert not self.call_server().get("isError"), "the server does not find the stored account"
        report = json.loads(self.run("status", "--json")[0])
        assert [entry["key_in"] for entry in report["accounts"]] == ["keychain"], report["accounts"]
        assert report["key"] == "key of a project", report

    def check_other_address(self):
        listener = Listener()
        _, errors = self.run("runs", "--base-url", listener.address(), status=2)
        assert f"is not sent to {listener.address()}" in errors, errors
        assert listener.requests == []

    def check_logout(self):
        self.run("logout")
        self.run("logout", status=1)
        _, errors = self.run("runs", status=2)
        assert "tas-mcp login" in errors, errors

    def check_locked_keychain(self):
        self.login()
        bus = ["gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path"]
        method = ["--method", "org.freedesktop.Secret.Service.Lock", f"['{COLLECTION}']"]
        subprocess.run([*bus, "/org/freedesktop/secrets", *method], check=True, stdout=subprocess.DEVNULL)

        for command in ["runs", "logout"]:
            _, errors = self.run(command, status=2)
            error, hint = errors.strip().splitlines()
            assert "the keychain is locked or refuses the access" in error and "--store file" in hint, errors


def main():
    daemon = ["gnome-keyring-daemon", "--unlock", "--components=secrets"]
    subprocess.run(daemon, input="password", text=True, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    check = Check(sys.argv[1])
    try:
        check.check()
    finally:
        check.sandbox.kill()
    print("accounts: signed in and out with the keychain")


main()
