"""Uploads a file with the binary to an S3-compatible server, and compares the stored object byte by byte.
Usage: check.py BINARY"""

import hashlib
import json
import logging
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

from botocore.exceptions import ClientError

from stores import BUCKET, PART_SIZE, Service, Store

PARTS = 6
KEY = "svc_storage_check"


class Check:
    def __init__(self, binary, directory):
        self.binary, self.store = binary, Store()
        self.service, self.state = Service(self.store), directory / "state"
        self.file = directory / "game.apk"
        self.bytes = random.Random(7).randbytes((PARTS - 1) * PART_SIZE + 12_345)
        self.file.write_bytes(self.bytes)

    def start(self, *flags):
        variables = {
            "PATH": os.environ["PATH"],
            "TAS_BASE_URL": self.service.base_url(),
            "TAS_API_KEY": KEY,
            "TAS_PROJECT_ID": "demo",
            "TAS_STATE_DIR": str(self.state),
        }
        command = [self.binary, "upload", "--json", *flags, str(self.file)]
        return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def upload(self, *flags):
        """Uploads the file and compares the stored object with it."""
        self.store.received.clear()
        output, errors = self.start(*flags).communicate(timeout=120)
        assert errors == "", errors
        build = json.loads(output)
        assert self.store.content(self.service.object_keys[build["build_id"]]) == self.bytes, "the stored object differs from the file"
        assert build["sha256"] == hashlib.sha256(self.bytes).hexdigest()
        assert (build["size"], build["parts"]) == (len(self.bytes), PARTS)
        assert self.store.unfinished() == [] and list((self.state / "uploads").iterdir()) == []
        return build

    def wait_until(self, condition):
        end = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < end, f"{self.store.received}, {self.store.unfinished()}"
            time.sleep(0.02)

    def start_without(self, *parts):
        """Starts an upload whose given parts do not arrive. Waits until the other parts have arrived."""
        self.store.received.clear()
        self.store.blocked = set(parts)
        upload = self.start()
        others = [part for part in range(1, PARTS + 1) if part not in parts]
        self.wait_until(lambda: self.store.unfinished() == [others] and set(parts) <= set(self.store.received))
        # The server may have parts whose arrival the client has not recorded yet.
        recorded = lambda: json.loads(next((self.state / "uploads").glob("*.json")).read_text())["etags"]
        self.wait_until(lambda: len(recorded()) == len(others))
        return upload

    def a_file_is_stored_completely(self):
        self.upload()
        assert sorted(self.store.received) == list(range(1, PARTS + 1))
        assert self.store.with_key == [] and self.service.part_requests == [(PARTS, False)]

    def a_part_is_repeated_after_a_503(self):
        self.store.busy = {2, 6}
        build = self.upload()
        assert build["bytes_sent_again"] == PART_SIZE + 12_345, build

    def a_killed_upload_is_resumed(self):
        killed = self.start_without(3, 6)
        killed.kill()
        killed.communicate()
        self.store.blocked = set()
        build = self.upload()
        assert build["parts_resumed"] == PARTS - 2 and sorted(self.store.received) == [3, 6], self.store.received

    def an_interrupted_upload_is_resumed(self):
        interrupted = self.start_without(4)
        interrupted.send_signal(signal.SIGINT)
        output, errors = interrupted.communicate(timeout=60)
        assert (interrupted.returncode, output) == (130, ""), errors
        self.store.blocked = set()
        build = self.upload()
        assert build["parts_resumed"] == PARTS - 1 and self.store.received == [4], self.store.received

    def a_client_over_http_sends_the_parts_itself(self):
        variables = {"PATH": os.environ["PATH"], "TAS_BASE_URL": self.service.base_url(), "TAS_PROJECT_ID": "demo"}
        command = [self.binary, "http", "--listen", "127.0.0.1:0", "--admin", "off"]
        server = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
        try:
            url = server.stderr.readline().strip().removeprefix("listening on ")
            build = {"name": "game", "file_name": self.file.name, "platform": "android", "multipart": True}
            upload = call(url, "initiate_build_upload", file_size=len(self.bytes), **build)
            ids = {name: upload[name] for name in ("upload_id", "object_key")}
            numbers = list(range(1, upload["total_parts"] + 1))
            addresses = call(url, "get_build_upload_parts", part_numbers=numbers, **ids)["upload_urls"]
            parts = [send_part(part, self.bytes, upload["part_size"]) for part in addresses]
            build = call(url, "complete_build_upload", build_id=upload["build_id"], parts=parts, **ids)
        finally:
            server.terminate()
            server.communicate()
        assert self.store.content(self.service.object_keys[build["build_id"]]) == self.bytes, "the stored object differs"
        assert self.store.unfinished() == [] and self.store.with_key == []

    def a_wrong_tag_is_refused(self):
        """Checks that the server verifies tags; otherwise the other checks would prove little."""
        upload = {"Bucket": BUCKET, "Key": "wrong"}
        upload["UploadId"] = self.store.client.create_multipart_upload(**upload)["UploadId"]
        self.store.client.upload_part(**upload, PartNumber=1, Body=b"abc")
        wrong = {"Parts": [{"PartNumber": 1, "ETag": "0" * 32}]}
        try:
            self.store.client.complete_multipart_upload(**upload, MultipartUpload=wrong)
        except ClientError as error:
            assert error.response["Error"]["Code"] == "InvalidPart", error
            return self.store.client.abort_multipart_upload(**upload)
        raise AssertionError("the server accepts any tag")


def call(url, tool, **arguments):
    """Calls a tool over HTTP. Returns the reply."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {"Content-Type": "application/json", "X-Api-Key": KEY}
    with urlopen(Request(url, json.dumps(message).encode(), headers), timeout=60) as response:
        result = json.load(response)["result"]
    assert not result["isError"], result
    return result["structuredContent"]


def send_part(part, file, size):
    """Sends a part as a client does. Returns what the completion takes."""
    body = file[(part["part_number"] - 1) * size : part["part_number"] * size]
    request = Request(part["url"], body, {"Content-Type": "application/octet-stream"}, method="PUT")
    with urlopen(request, timeout=60) as response:
        return {"part_number": part["part_number"], "etag": response.headers["ETag"]}


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as directory:
        check = Check(sys.argv[1], Path(directory))
        for check_function in (
            check.a_wrong_tag_is_refused,
            check.a_file_is_stored_completely,
            check.a_part_is_repeated_after_a_503,
            check.a_client_over_http_sends_the_parts_itself,
            check.a_killed_upload_is_resumed,
            check.an_interrupted_upload_is_resumed,
        ):
            started = time.monotonic()
            check_function()
            print(f"{check_function.__name__.replace('_', ' ')}: yes ({time.monotonic() - started:.1f} s)")


if __name__ == "__main__":
    main()
