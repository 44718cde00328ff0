"""Calls three replicas behind nginx in both eras of the protocol, then stops one of them under load, and kills another. All
replicas use one sandbox. Usage: check_replicas.py BINARY"""

import contextlib
import sys
import threading
import time

from mcp_client import LEGACY, LOST, MODERN, Client, get
from processes import Nginx, Replica, Sandbox, accepts

WORKERS = 6
# Less than the 100 requests a second of one address that nginx passes on.
PAUSE_SECONDS = 0.15
DRAIN_SECONDS = 10


def both_eras(address):
    counts = {}
    for era in (LEGACY, MODERN):
        client = Client(address, era)
        counts[era] = len(client.tools())
        assert client.call("list_runs", project_id="demo", page_size=3)["data"]

        for key, code in ((None, "unauthenticated"), ("svc_unknown_key", "unauthenticated")):
            answer = Client(address, era, key=key).error_code("list_runs", project_id="demo")
            assert answer == code, f"{era}, key {key}: {answer} instead of {code}"
        # Each key sees its own project.
        arena = Client(address, era, key="svc_sandbox_arena")
        own, other = client.call("list_tests")["data"], arena.call("list_tests")["data"]
        assert own and other and not {test["id"] for test in own} & {test["id"] for test in other}
    return counts


def every_replica_serves(nginx, replicas):
    # nginx may send each request to another replica, also those of a client that has introduced itself to one.
    clients = [Client(nginx.address, era) for era in (LEGACY, MODERN)]
    for _ in range(12):
        for client in clients:
            client.call("list_runs", project_id="demo", page_size=1)
    served = {replica.address for replica in replicas if f" {replica.address} 200" in nginx.text()}
    assert len(served) == len(replicas), f"only {served} served calls"


class Load:
    """Light load of reads and writes until it is stopped. Each write has a name of its own."""

    def __init__(self, address, prefix):
        self.address = address
        self.prefix = prefix
        self.stopped = threading.Event()
        self.created, self.failures, self.calls = [], [], 0
        self.threads = [threading.Thread(target=self.work, args=(number,)) for number in range(WORKERS)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def work(self, number):
        client = Client(self.address, LEGACY if number % 2 else MODERN)
        count = 0
        while not self.stopped.is_set():
            name = f"{self.prefix}-{number}-{count}"
            try:
                client.call("list_runs", project_id="demo", page_size=1)
                client.call("create_test_folder", project_id="demo", name=name)
                self.created.append(name)
            except LOST as failure:
                self.failures.append(f"{name}: {failure!r}")
            self.calls += 2
            count += 1
            self.stopped.wait(PAUSE_SECONDS)


def folders(address, prefix):
    client, names, page = Client(address, MODERN), [], 0
    while data := client.call("list_test_folders", project_id="demo", page=page, page_size=100, fields="name")["data"]:
        names += [folder["name"] for folder in data if folder["name"].startswith(prefix)]
        page += 1
    return names


class Wait(threading.Thread):
    """Waits for a run that does not end."""

    def __init__(self, address, seconds):
        super().__init__()
        self.client = Client(address, MODERN)
        self.seconds = seconds
        self.result = None

    def run(self):
        try:
            runs = self.client.call("list_runs", project_id="demo", state="RUNNING")["data"]
            run = runs[0]["multiplayer_run_id"]
            self.result = self.client.call("wait_for_completion", run_id=run, timeout_seconds=self.seconds)["status"]
        except LOST as failure:
            self.result = repr(failure)


def one_replica_stops_under_load(address, replicas):
    stopped = replicas[1]
    # The drain interrupts the last two, because it is shorter than they are.
    waits = [*(Wait(address, 5) for _ in range(4)), *(Wait(stopped.address, 40) for _ in range(2))]
    with Load(address, "stop") as load:
        for one in waits:
            one.start()
        stopped.until(lambda: load.calls > 100)
        assert get(stopped.admin, "/readyz")[0] == 200
        stopped.terminate()
        began = time.monotonic()
        stopped.until(lambda: get(stopped.admin, "/readyz")[0] == 503)
        assert get(stopped.admin, "/healthz")[0] == 200

        stopped.until(lambda: not accepts(stopped.address))
        code = stopped.process.wait(timeout=DRAIN_SECONDS + 5)
        seconds = time.monotonic() - began
        served = load.calls
        replicas[0].until(lambda: load.calls > served + 100)
    for one in waits:
        one.join()

    assert code == 0, f"exit code {code}: {stopped.text()[-2000:]}"
    assert load.failures == [], f"{len(load.failures)} of {load.calls} calls failed: {load.failures[:5]}"
    results = [one.result for one in waits]
    assert results == ["timed_out"] * len(waits), results
    names = folders(address, "stop-")
    assert sorted(names) == sorted(load.created), f"{len(names)} folders after {len(load.created)} calls"
    return f"{load.calls} calls and {len(waits)} waits, no call lost, no write twice; it ended after {seconds:.1f} s"


def one_replica_is_killed_under_load(address, replicas):
    with Load(address, "kill") as load:
        replicas[0].until(lambda: load.calls > 100)
        replicas[2].process.kill()
        served = load.calls
        replicas[0].until(lambda: load.calls > served + 400)

    # A worker has one call under way. That one may be lost, and its folder may exist.
    assert len(load.failures) <= WORKERS, load.failures[:10]
    names = folders(address, "kill-")
    assert len(names) == len(set(names)), "a folder exists twice"
    assert set(load.created) <= set(names), "a folder is missing"
    assert len(names) - len(load.created) <= len(load.failures), "a folder that nobody created exists"
    return f"{len(load.failures)} of {load.calls} calls lost, no write twice"


def main(binary):
    with contextlib.ExitStack() as stack:
        sandbox = stack.enter_context(Sandbox(binary))
        settings = {
            **sandbox.settings,
            "TAS_HTTP_TRUSTED_PROXIES": "127.0.0.1/32",
            # The load comes from one key.
            "TAS_HTTP_RATE": "10000",
            "TAS_HTTP_DRAIN_S": str(DRAIN_SECONDS),
        }
        replicas = [stack.enter_context(Replica(binary, settings=settings)) for _ in range(3)]
        nginx = stack.enter_context(Nginx([replica.address for replica in replicas]))

        counts = both_eras(nginx.address)
        print(f"ok      replicas: {counts[LEGACY]} tools in {LEGACY}, {counts[MODERN]} in {MODERN}")
        every_replica_serves(nginx, replicas)
        print("ok      replicas: each of the three serves calls")
        print(f"ok      replicas: SIGTERM of one of three: {one_replica_stops_under_load(nginx.address, replicas)}")
        print(f"ok      replicas: SIGKILL of another: {one_replica_is_killed_under_load(nginx.address, replicas)}")


main(sys.argv[1])
