"""pynessie's command line against a running server, whose base (ending in /api/) is in LOCHAN_NESSIE.

Every test works on branches of its own names, so that the server may hold anything else. The command line runs inside
the test's process: starting Python for each of its three hundred commands would take most of the time.
"""

import json
import os
import uuid

import pytest
from click.testing import CliRunner
from pynessie.cli import cli

ENDPOINT = os.environ["LOCHAN_NESSIE"].rstrip("/") + "/v1"


class Nessie:
    """The command line, with a branch of the test's own."""

    def __init__(self, folder):
        self.runner = CliRunner(env={"NESSIEDIR": str(folder)})
        self.suffix = uuid.uuid4().hex[:10]
        self.branch = self.name("trunk")
        self.say("branch", self.branch, "main")

    def name(self, start):
        """A name that no other test has."""
        return f"{start}-{self.suffix}"

    def run(self, *words, stdin=None):
        """Exit code and what was printed."""
        return self.runner.invoke(cli, ["--endpoint", ENDPOINT, *words], input=stdin)

    def say(self, *words, stdin=None):
        """What a command that must succeed printed."""
        done = self.run(*words, stdin=stdin)
        assert done.exit_code == 0, f"nessie {' '.join(words)}: {done.output}{done.exception or ''}"
        return done.stdout

    def json(self, *words):
        return json.loads(self.say("--json", *words))

    def refused(self, *words, stdin=None):
        """The error document of a command that must fail."""
        done = self.run("--json", *words, stdin=stdin)
        assert done.exit_code == 1, f"nessie {' '.join(words)} was not refused: {done.output}"
        return json.loads(done.output)

    def head(self, branch):
        return self.json("branch", "-l", branch)["hash"]

    def hashes(self, reference, *words):
        return [meta["hash"] for meta in self.json("log", reference, *words)]

    def put(self, branch, key, number=1, message=None, author=None, content_id=None):
        """Commits an Iceberg table under `key`; the new head."""
        content = {
            "type": "ICEBERG_TABLE",
            "id": content_id,
            "metadataLocation": f"s3://bucket/{key}/{number}.metadata.json",
            "snapshotId": number,
            "schemaId": 0,
            "specId": 0,
            "sortOrderId": 0,
        }
        return self.commit(branch, key, content, message or f"put {key} {number}", author)

    def namespace(self, branch, name):
        return self.commit(branch, name, {"type": "NAMESPACE", "id": None, "elements": name.split(".")}, f"namespace {name}")

    def commit(self, branch, key, content, message, author=None):
        words = ["content", "commit", "-i", "-r", branch, "-c", self.head(branch), "-m", message]
        words += ["--author", author] if author else []
        said = self.say(*words, key, stdin=json.dumps(content))
        assert "Changes have been committed." in said, said
        return self.head(branch)

    def remove(self, branch, key, message="remove"):
        self.say("content", "commit", "-R", "-r", branch, "-c", self.head(branch), "-m", message, key)
        return self.head(branch)

    def view(self, branch, key):
        return self.json("content", "view", "-r", branch, key)[0]

    def keys(self, branch, *words):
        return sorted(key_of(entry) for entry in self.json("content", "list", "-r", branch, *words))

    def merge(self, source, target):
        return self.say("merge", "-b", target, "-c", self.head(target), source)


def key_of(entry):
    return ".".join(entry["name"]["elements"])


@pytest.fixture
def nessie(tmp_path):
    return Nessie(tmp_path)
