"""The Nessie API v2, as far as this suite needs it. Standard library only."""

import http.client
import json
import urllib.parse

NO_ANCESTOR = "2e1cfa82b035c26cbbbdae632cea070514eb8b773f616aaeaf668e2f0be8f10d"
REQUEST_SECONDS_MAX = 60


class Refused(Exception):
    """An answer that is no success."""


class Server:
    """A server of the Nessie API, on one connection."""

    def __init__(self, root):
        self.root = root.rstrip("/")
        self.connection = http.client.HTTPConnection(
            urllib.parse.urlsplit(root).netloc, timeout=REQUEST_SECONDS_MAX)

    def send(self, method, path, body=None, **query):
        query = urllib.parse.urlencode({name.replace("_", "-"): value for name, value in query.items()})
        data = None if body is None else json.dumps(body)
        headers = {} if data is None else {"Content-Type": "application/json"}
        self.connection.request(method, f"{path}?{query}" if query else path, data, headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise Refused(f"{method} {path}: {answer.status} {text[:500]}")
        return json.loads(text) if text else None

    def pages(self, path, field, **query):
        """All elements of a list, whatever its pages."""
        token = {}
        while True:
            page = self.send("GET", path, **query, **token)
            yield from page[field]
            if not page["hasMore"]:
                return
            token = {"page_token": page["token"]}

    def references(self):
        return list(self.pages("/api/v2/trees", "references"))

    def head(self, name):
        return self.send("GET", f"/api/v2/trees/{quoted(name)}")["reference"]["hash"]

    def log(self, at):
        return list(self.pages(f"/api/v2/trees/{quoted(at)}/history", "logEntries", fetch="ALL"))

    def entries(self, at):
        """Everything that a state holds: key to content."""
        found = self.pages(f"/api/v2/trees/{quoted(at)}/entries", "entries", content="true")
        return {tuple(entry["name"]["elements"]): entry["content"] for entry in found}

    def commit(self, branch, operations, **meta):
        meta.setdefault("message", f"{len(operations)} operations on {branch}")
        at = f"{branch}@{self.head(branch)}"
        body = {"commitMeta": meta, "operations": operations}
        return self.send("POST", f"/api/v2/trees/{quoted(at)}/history/commit", body)

    def hash_at(self, at):
        """The commit that a reference with relative parts means."""
        page = self.send("GET", f"/api/v2/trees/{quoted(at)}/history", max_records=1)
        return page["logEntries"][0]["commitMeta"]["hash"]

    def create(self, kind, name, source):
        """A branch or tag at a reference, with relative parts or not, or at a hash."""
        at = source if source == NO_ANCESTOR else self.hash_at(source)
        self.send("POST", "/api/v2/trees", {"type": "DETACHED", "hash": at}, name=name, type=kind)

    def delete(self, name):
        at = f"{name}@{self.head(name)}"
        return self.send("DELETE", f"/api/v2/trees/{quoted(at)}")

    def assign(self, name, to):
        at = f"{name}@{self.head(name)}"
        self.send("PUT", f"/api/v2/trees/{quoted(at)}", {"type": "DETACHED", "hash": self.hash_at(to)})

    def merge(self, source, target, **options):
        at = f"{target}@{self.head(target)}"
        body = {"fromRefName": source, "fromHash": self.head(source), **options}
        return self.send("POST", f"/api/v2/trees/{quoted(at)}/history/merge", body)

    def transplant(self, source, hashes, target, **options):
        at = f"{target}@{self.head(target)}"
        body = {"fromRefName": source, "hashesToTransplant": hashes, **options}
        return self.send("POST", f"/api/v2/trees/{quoted(at)}/history/transplant", body)


def quoted(text):
    return urllib.parse.quote(text, safe="")


def put(key, content):
    return {"type": "PUT", "key": {"elements": key.split(".") if isinstance(key, str) else key}, "content": content}


def drop(key):
    return {"type": "DELETE", "key": {"elements": key.split(".") if isinstance(key, str) else key}}


def table(number, **more):
    return {"type": "ICEBERG_TABLE", "metadataLocation": f"s3://lake/{number}.metadata.json", "snapshotId": number,
            "schemaId": number % 7, "specId": 0, "sortOrderId": 0, **more}


def namespace(key, **properties):
    elements = key.split(".") if isinstance(key, str) else key
    return {"type": "NAMESPACE", "elements": elements, "properties": properties}
