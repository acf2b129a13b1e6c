"""Three ways to the same catalog: the `lochan` command line, pynessie, and the raw Nessie API."""

import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

SECONDS_MAX = 60  # one command or one request


class Cli:
    """The `lochan` command line against one server."""

    def __init__(self, program, endpoint):
        self.program = program
        self.environment = dict(os.environ, LOCHAN_ENDPOINT=endpoint, NO_COLOR="1")

    def run(self, *words):
        """Exit code and everything that was printed."""
        done = subprocess.run(
            [self.program, *words],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS_MAX,
        )
        return done.returncode, done.stdout

    def told(self, story, *words):
        """Runs a command that must succeed, and shows it."""
        code, output = self.run(*words)
        command = " ".join(["lochan", *words])
        if code != 0:
            raise RuntimeError(f"`{command}` ended with {code}:\n{output}")
        story.quote(command, output)
        return output

    def hashes(self, reference):
        code, output = self.run("--json", "log", reference)
        if code != 0:
            raise RuntimeError(f"`lochan log {reference}` ended with {code}:\n{output}")
        return [entry["commitMeta"]["hash"] for entry in entries(json.loads(output))]


def entries(document):
    return document if isinstance(document, list) else document["logEntries"]


class Pynessie:
    """The Python command line of Nessie, in its own environment."""

    def __init__(self, program, nessie_base):
        self.command = [program, "--endpoint", nessie_base.rstrip("/") + "/v1", "--json"]

    def hashes(self, reference):
        done = subprocess.run(
            [*self.command, "log", reference], capture_output=True, text=True, timeout=SECONDS_MAX, check=True
        )
        return [meta["hash"] for meta in json.loads(done.stdout)]


class Raw:
    """The Nessie API v2 by hand."""

    def __init__(self, nessie_base):
        self.base = nessie_base.rstrip("/") + "/v2"

    def call(self, method, path, body=None):
        """Status and document."""
        request = urllib.request.Request(f"{self.base}/{path}", method=method)
        request.add_header("Accept", "application/json")
        request.add_header("Nessie-Client-Spec", "2")
        data = None
        if body is not None:
            request.add_header("Content-Type", "application/json")
            data = json.dumps(body).encode()
        try:
            with urllib.request.urlopen(request, data, timeout=SECONDS_MAX) as answer:
                return answer.status, json.loads(answer.read() or b"null")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"null")

    def head(self, reference):
        status, answer = self.call("GET", "trees/" + urllib.parse.quote(reference, safe=""))
        if status != 200:
            raise RuntimeError(f"reading {reference}: {answer}")
        return answer["reference"]["hash"]

    def hashes(self, reference):
        found, token = [], ""
        while True:
            path = f"trees/{urllib.parse.quote(reference, safe='')}/history"
            status, page = self.call("GET", f"{path}?page-token={token}" if token else path)
            if status != 200:
                raise RuntimeError(f"history of {reference}: {page}")
            found += [entry["commitMeta"]["hash"] for entry in page["logEntries"]]
            if not page["hasMore"]:
                return found
            token = urllib.parse.quote(page["token"], safe="")

    def merge(self, source, target):
        """Merges the head of `source` into the head of `target`; status and answer."""
        body = {"fromRefName": source, "fromHash": self.head(source)}
        return self.call("POST", f"trees/{target}@{self.head(target)}/history/merge", body)
