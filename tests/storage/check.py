"""Uploads a file with the binary to a real S3-compatible server, and compares what lies there then byte by byte.
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
        command = [self.binary, "upload", *flags, str(self.file)]
        return subprocess.Popen(command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def upload(self, *flags):
        """Uploads the file, and holds the object to it."""
        self.store.came.clear()
        output, errors = self.start(*flags).communicate(timeout=120)
        assert errors == "", errors
        build = json.loads(output)
        assert self.store.content(self.service.begun[build["build_id"]]) == self.bytes, "the object is another one"
        assert build["sha256"] == hashlib.sha256(self.bytes).hexdigest()
        assert (build["size"], build["parts"]) == (len(self.bytes), PARTS)
        assert self.store.unfinished() == [] and list((self.state / "uploads").iterdir()) == []
        return build

    def until(self, fact):
        end = time.monotonic() + 60
        while not fact():
            assert time.monotonic() < end, f"{self.store.came}, {self.store.unfinished()}"
            time.sleep(0.02)

    def held_back(self, *parts):
        """Starts an upload of which these parts do not arrive; waits until the others have."""
        self.store.came.clear()
        self.store.held = set(parts)
        upload = self.start()
        others = [part for part in range(1, PARTS + 1) if part not in parts]
        self.until(lambda: self.store.unfinished() == [others] and set(parts) <= set(self.store.came))
        # What the server has, the client need not know yet.
        journal = lambda: next((self.state / "uploads").iterdir()).read_text().count('"part_number"')
        self.until(lambda: journal() == len(others))
        return upload

    def a_file_arrives_whole(self):
        self.upload()
        assert sorted(self.store.came) == list(range(1, PARTS + 1))
        assert self.store.with_key == [] and self.service.asked == [(PARTS, False)]

    def a_busy_store_gets_a_part_again(self):
        self.store.busy = {2, 6}
        build = self.upload()
        assert build["bytes_sent_again"] == PART_SIZE + 12_345, build

    def a_killed_upload_goes_on(self):
        killed = self.held_back(3, 6)
        killed.kill()
        killed.communicate()
        self.store.held = set()
        build = self.upload("--resume")
        assert build["parts_resumed"] == PARTS - 2 and sorted(self.store.came) == [3, 6], self.store.came

    def an_interrupt_leaves_nothing(self):
        interrupted = self.held_back(4)
        interrupted.send_signal(signal.SIGINT)
        output, errors = interrupted.communicate(timeout=60)
        assert (interrupted.returncode, output) == (1, ""), errors
        assert json.loads(errors)["error"]["details"]["upload"].startswith("cancelled"), errors
        assert self.store.unfinished() == []

    def a_wrong_tag_is_refused(self):
        """Otherwise the facts above would show little."""
        upload = {"Bucket": BUCKET, "Key": "wrong"}
        upload["UploadId"] = self.store.client.create_multipart_upload(**upload)["UploadId"]
        self.store.client.upload_part(**upload, PartNumber=1, Body=b"abc")
        wrong = {"Parts": [{"PartNumber": 1, "ETag": "0" * 32}]}
        try:
            self.store.client.complete_multipart_upload(**upload, MultipartUpload=wrong)
        except ClientError as error:
            assert error.response["Error"]["Code"] == "InvalidPart", error
            return self.store.client.abort_multipart_upload(**upload)
        raise AssertionError("the server takes any tag")


def main():
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory() as directory:
        check = Check(sys.argv[1], Path(directory))
        for fact in (
            check.a_wrong_tag_is_refused,
            check.a_file_arrives_whole,
            check.a_busy_store_gets_a_part_again,
            check.a_killed_upload_goes_on,
            check.an_interrupt_leaves_nothing,
        ):
            began = time.monotonic()
            fact()
            print(f"{fact.__name__.replace('_', ' ')}: yes ({time.monotonic() - began:.1f} s)")


if __name__ == "__main__":
    main()
