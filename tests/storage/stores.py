"""An S3-compatible server, and the four upload operations of the service, which use its signed addresses. The server
assembles the parts. Nothing here depends on the implementation of the client."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "builds"
# Minimum size of a part on such servers, except for the last part.
PART_SIZE = 5 * 1024 * 1024


class Store:
    """The storage host. Records the parts that were received, and can block some of them."""

    def __init__(self):
        self.application = DomainDispatcherApplication(create_backend_app)
        self.received, self.with_key, self.blocked, self.busy = [], [], set(), set()
        server = make_server("127.0.0.1", 0, self.answer, threaded=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.client = boto3.client(
            "s3",
            endpoint_url=f"http://127.0.0.1:{server.server_port}",
            region_name="us-east-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(signature_version="s3v4", request_checksum_calculation="when_required"),
        )
        self.client.create_bucket(Bucket=BUCKET)

    def answer(self, environ, start_response):
        number = parse_qs(environ["QUERY_STRING"]).get("partNumber")
        if environ["REQUEST_METHOD"] == "PUT" and number:
            part = int(number[0])
            self.received.append(part)
            if "HTTP_X_API_KEY" in environ:
                self.with_key.append(part)
            if part in self.blocked:
                threading.Event().wait()
            if part in self.busy:
                self.busy.remove(part)
                environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
                start_response("503 Slow Down", [("content-type", "application/xml")])
                return [b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"]
        return self.application(environ, start_response)

    def unfinished(self):
        """Returns the part numbers of each upload that was neither completed nor aborted."""
        uploads = self.client.list_multipart_uploads(Bucket=BUCKET).get("Uploads", [])
        parts = lambda upload: self.client.list_parts(Bucket=BUCKET, Key=upload["Key"], UploadId=upload["UploadId"])
        return [[part["PartNumber"] for part in parts(upload).get("Parts", [])] for upload in uploads]

    def content(self, key):
        return self.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()


class Service(ThreadingHTTPServer):
    """The four operations of the service, for the project `demo`."""

    def __init__(self, store):
        super().__init__(("127.0.0.1", 0), Operation)
        self.store, self.object_keys, self.part_requests = store, {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def base_url(self):
        return f"http://127.0.0.1:{self.server_port}/api/v1"


class Operation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.reply(self.complete if self.path.endswith("/complete") else self.initiate, body)

    def do_GET(self):
        query = {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}
        self.reply(self.addresses if "/builds/upload/parts" in self.path else self.build, query)

    def do_DELETE(self):
        self.reply(self.cancel, {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()})

    def initiate(self, body):
        build = f"build-{len(self.server.object_keys) + 1}"
        key = f"demo/{build}/{body['file_name']}"
        upload = self.client.create_multipart_upload(Bucket=BUCKET, Key=key)["UploadId"]
        self.server.object_keys[build] = key
        parts = -(-body["file_size"] // PART_SIZE)
        return {"build_id": build, "upload_id": upload, "object_key": key, "total_parts": parts, "part_size": PART_SIZE}

    def addresses(self, query):
        numbers = [int(number) for number in query["part_numbers"].split(",")]
        self.server.part_requests.append((len(numbers), "x-api-key" in self.headers))
        upload = {"Bucket": BUCKET, "Key": query["object_key"], "UploadId": query["upload_id"]}
        self.client.list_parts(**upload)
        sign = lambda number: self.client.generate_presigned_url("upload_part", {**upload, "PartNumber": number})
        return {"upload_urls": [{"part_number": number, "url": sign(number)} for number in numbers]}

    def complete(self, body):
        parts = [{"PartNumber": part["part_number"], "ETag": part["etag"]} for part in body["parts"]]
        upload = {"Bucket": BUCKET, "Key": body["object_key"], "UploadId": body["upload_id"]}
        self.client.complete_multipart_upload(**upload, MultipartUpload={"Parts": parts})
        return {"build_id": body["build_id"]}

    def cancel(self, query):
        self.client.abort_multipart_upload(Bucket=BUCKET, Key=query["object_key"], UploadId=query["upload_id"])
        return {"success": True}

    def build(self, _):
        raise KeyError("this server does not show builds")

    @property
    def client(self):
        return self.server.store.client

    def reply(self, operation, arguments):
        try:
            status, answer = 200, operation(arguments)
        except (ClientError, KeyError) as error:
            is_missing = "NoSuchUpload" in str(error) and operation != self.addresses
            status, answer = 404 if is_missing else 400, {"error": str(error)}
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass
