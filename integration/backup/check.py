"""Backups to an S3-compatible server while commits go on. usage: check.py SERVER S3_JSON WORK_FOLDER"""

import atexit
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import checks
from checks import check

SERVER, S3, WORK = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3]
WRITERS, TABLES = 4, 20
# A commit of this many bytes makes a few seconds of work of a backup at 1 MiB/s.
MESSAGE_BYTES, LARGE_COMMITS = 60_000, 70
WAIT_SECONDS = 60
CONFIG = os.path.join(WORK, "backup.toml")
url = f"s3://{S3['bucket']}/backups"


def wait_for(what, seen):
    end = time.monotonic() + WAIT_SECONDS
    while not (found := seen()):
        if time.monotonic() > end:
            sys.exit(f"FAILED: {what} within {WAIT_SECONDS} s")
        time.sleep(0.05)
    return found


def lochan(*words, folder="served"):
    """Exit code and text of a subcommand of the server's program."""
    settings = ["--config", CONFIG]
    if words[0] != "verify":
        settings += ["--data-dir", os.path.join(WORK, folder)]
    ran = subprocess.run([SERVER, *words, *settings], capture_output=True, text=True, timeout=WAIT_SECONDS)
    return ran.returncode, ran.stdout + ran.stderr


class Served:
    """A server on a data folder."""

    def __init__(self, folder):
        ready = os.path.join(WORK, f"{folder}.json")
        if os.path.exists(ready):
            os.remove(ready)
        log = open(os.path.join(WORK, f"{folder}.log"), "ab")
        self.process = subprocess.Popen(
            [SERVER, "serve", "--config", CONFIG, "--data-dir", os.path.join(WORK, folder), "--listen", "127.0.0.1:0",
             "--management-listen", "127.0.0.1:0", "--ready-file", ready], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        atexit.register(self.process.kill)
        wait_for("the server is ready", lambda: os.path.exists(ready) or self.process.poll() is not None)
        if self.process.poll() is not None:
            sys.exit(f"FAILED: the server ended while it was starting, see {folder}.log")
        self.api = json.load(open(ready))["nessie"] + "v2/"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.api + path, data=data, method=method, headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=WAIT_SECONDS) as answer:
            return json.loads(answer.read())

    def head(self, name):
        return self.call("GET", f"trees/{name}")["reference"]["hash"]

    def commit(self, branch, head, message, tables):
        operations = [
            {"type": "PUT", "key": {"elements": [table]},
             "content": {"type": "ICEBERG_TABLE", "id": id, "metadataLocation": f"s3://lake/{table}/{version}",
                         "snapshotId": version, "schemaId": 0, "specId": 0, "sortOrderId": 0}}
            for table, (id, version) in tables.items()]
        body = {"commitMeta": {"message": message}, "operations": operations}
        answer = self.call("POST", f"trees/{branch}@{head}/history/commit", body)
        added = {entry["key"]["elements"][0]: entry["contentId"] for entry in answer.get("addedContents") or []}
        return answer["targetBranch"]["hash"], added

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait(WAIT_SECONDS)


class Writer(threading.Thread):
    """Commits on a branch of its own until it is told to stop; `told` holds what was acknowledged, oldest first."""

    def __init__(self, served, number):
        super().__init__(daemon=True)
        self.served, self.branch, self.told, self.failed = served, f"writer-{number}", [], None
        self.stopping = False

    def run(self):
        try:
            root = self.served.head("main")
            self.served.call("POST", f"trees?name={self.branch}&type=BRANCH", {"type": "BRANCH", "name": "main", "hash": root})
            head, ids, state, version = root, {}, {}, 0
            while not self.stopping:
                version += 1
                table = f"{self.branch}-{version % TABLES}"
                head, added = self.served.commit(self.branch, head, f"step {version}", {table: (ids.get(table), version)})
                ids.update(added)
                state = {**state, table: version}
                self.told.append((head, state))
        except Exception as error:  # whatever it is, the run has failed
            self.failed = error

    def stop(self):
        self.stopping = True
        self.join(WAIT_SECONDS)
        if self.failed:
            sys.exit(f"FAILED: a writer: {self.failed!r}")


def copied(text):
    return int(re.search(r"copied (\d+) objects", text)[1])


def held(text):
    return int(re.search(r"holds (\d+) objects", text)[1])


with open(CONFIG, "w") as out:
    out.write(f"""[backup.s3]
endpoint = "{S3['endpoint']}"
region = "{S3['region']}"
path_style = true
access_key_id = "{S3['access_key']}"
secret_access_key = "{S3['secret_key']}"
""")

served = Served("served")
code, text = lochan("verify", f"{url}/one")
check("where no backup is, none is verified", code != 0 and "there is no backup" in text, text)
writers = [Writer(served, number) for number in range(WRITERS)]
for writer in writers:
    writer.start()
wait_for("every writer has committed", lambda: all(len(writer.told) > 2 * TABLES for writer in writers))

code, text = lochan("backup", f"{url}/one")
check("a backup is taken while commits go on", code == 0 and copied(text) > 0, text)
wait_for("writers go on", lambda w=[len(writer.told) for writer in writers]: all(len(writer.told) > at + 20 for writer, at in zip(writers, w)))
asked = [len(writer.told) for writer in writers]
code, text = lochan("backup", f"{url}/one")
later = copied(text)
check("a second one is taken", code == 0, text)
code, text = lochan("verify", f"{url}/one")
check("it is sound", code == 0 and "sound" in text and "cut off" not in text, text)
check("and only what was new was copied", 0 < later < held(text), (later, text))
for writer in writers:
    writer.stop()

code, text = lochan("restore", f"{url}/one", folder="restored")
check("it is restored", code == 0, text)
code, text = lochan("fsck", "--full", folder="restored")
check("what was restored passes fsck --full", code == 0, text)
restored = Served("restored")
for writer, least in zip(writers, asked):
    head = restored.head(writer.branch)
    told = {commit: (at, state) for at, (commit, state) in enumerate(writer.told, 1)}
    at, state = told.get(head, (0, {}))
    check(f"{writer.branch} is at an acknowledged commit, no older than the backup", at >= least, (head, at, least))
    keys = {"requestedKeys": [{"elements": [table]} for table in state]}
    found = restored.call("POST", f"trees/{writer.branch}/contents", keys)["contents"]
    tables = {entry["key"]["elements"][0]: entry["content"]["snapshotId"] for entry in found}
    check(f"{writer.branch} has the tables of that moment", tables == state, (tables, state))
restored.stop()

head = served.head("main")
for number in range(LARGE_COMMITS):
    text = f"{number}-".ljust(MESSAGE_BYTES, "x")
    head, _ = served.commit("main", head, text, {f"large-{number}": (None, number)})
for place, finished in (("one", True), ("two", False)):
    slow = subprocess.Popen(
        [SERVER, "backup", f"{url}/{place}", "--mib-per-second", "1", "--config", CONFIG, "--data-dir", os.path.join(WORK, "served")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    word = "a later run is under way" if finished else "never finished"
    wait_for("the backup has begun", lambda: slow.poll() is not None or word in lochan("verify", f"{url}/{place}")[1])
    check(f"{place}: a backup under way is told as such", slow.poll() is None, None)
    served.kill()
    text, _ = slow.communicate(timeout=WAIT_SECONDS)
    check(f"{place}: a backup whose server is killed fails", slow.returncode != 0, text)
    code, text = lochan("verify", f"{url}/{place}")
    if finished:
        check(f"{place}: it is recognised, and the one before is whole", code == 0 and word in text, text)
    else:
        check(f"{place}: it is recognised as no backup", code != 0 and word in text, text)
    code, text = lochan("restore", f"{url}/{place}", folder=f"half-{place}")
    check(f"{place}: only a finished one is restored", (code == 0) == finished, text)
    served = Served("served")
    code, text = lochan("backup", f"{url}/{place}")
    check(f"{place}: the next run finishes", code == 0, text)
    code, text = lochan("verify", f"{url}/{place}")
    check(f"{place}: and is sound", code == 0 and "cut off" not in text, text)
served.stop()
print(f"{checks.passed} passed")
