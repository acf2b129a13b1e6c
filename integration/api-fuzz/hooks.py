"""Makes half of the generated requests meet something that is there.

Random text hardly ever names a branch or table that exists, and a server that only ever answers 404 is not tested. So
before the run a few references, tables and views are made, and in half of the requests names and hashes are replaced by
theirs. Which half, and by what, is decided by a random source with a fixed seed.
"""

import json
import os
import random
import threading

import requests
import schemathesis

URL = os.environ["LOCHAN_URL"]
EMPTY = "2e1cfa82b035c26cbbbdae632cea070514eb8b773f616aaeaf668e2f0be8f10d"
HASH_EVERY = 25  # requests after which the hashes of the branches are looked up anew

chance = random.Random(int(os.environ.get("LOCHAN_FUZZ_SEED", "20260501")))
session = requests.Session()
lock = threading.Lock()
heads = {}
count = 0


def quote(text):
    return requests.utils.quote(text, safe="")


def call(method, path, body=None):
    return session.request(method, URL + path, json=body, timeout=30)


def head_of(name):
    answer = call("GET", f"/api/v2/trees/{name}")
    return answer.json()["reference"]["hash"] if answer.ok else EMPTY


def make():
    """What the requests meet. Runs of other documents make the same, so what is there already is no matter."""
    main = head_of("main")
    operations = [
        {"type": "PUT", "key": {"elements": ["sales"]}, "content": {"type": "NAMESPACE", "elements": ["sales"]}},
        {"type": "PUT", "key": {"elements": ["sales", "rates"]}, "content": {
            "type": "ICEBERG_TABLE", "metadataLocation": "file:///nowhere", "snapshotId": 1, "schemaId": 0, "specId": 0,
            "sortOrderId": 0}},
    ]
    call("POST", f"/api/v2/trees/main@{main}/history/commit", {"commitMeta": {"message": "begin"}, "operations": operations})
    schema = {"type": "struct", "schema-id": 0, "fields": [{"id": 1, "name": "id", "required": True, "type": "long"}]}
    call("POST", "/iceberg/v1/main/namespaces", {"namespace": ["sales"], "properties": {}})
    call("POST", "/iceberg/v1/main/namespaces/sales/tables", {"name": "orders", "schema": schema})
    version = {"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {}, "default-namespace": ["sales"],
               "representations": [{"type": "sql", "sql": "select 1", "dialect": "spark"}]}
    call("POST", "/iceberg/v1/main/namespaces/sales/views",
         {"name": "totals", "schema": schema, "view-version": version, "properties": {}})
    head = head_of("main")
    for kind, name in [("BRANCH", "dev"), ("BRANCH", "team/x"), ("TAG", "v1")]:
        call("POST", f"/api/v2/trees?name={quote(name)}&type={kind}",
             {"type": "BRANCH", "name": "main", "hash": head})


make()
REFERENCES = ["main", "dev", "v1", "team/x"]


def hash_of(name):
    global count
    with lock:
        count += 1
        if count % HASH_EVERY == 0:
            heads.clear()
        if name not in heads:
            heads[name] = head_of(quote(name))
        return heads[name]


def pick(name, path):
    """A value that is there for a parameter of this name; None for parameters that name nothing."""
    reference = chance.choice(REFERENCES)
    if name in ("ref", "branch", "from", "to", "name", "sourceRefName", "reference", "prefix"):
        if name == "name" and "/namespaces/" in path:
            return "sales"
        if path.startswith("/api/v2/trees/") and name != "name":
            return chance.choice([reference, f"{reference}@{hash_of(reference)}", f"{reference}~1", "-"])
        if name == "prefix":
            return chance.choice([reference, "main", "main|lake", "|lake"])
        return reference
    if name in ("expectedHash", "hashOnRef", "limit-hash", "startHash", "endHash"):
        return hash_of(reference)
    return {
        "key": chance.choice(["sales.orders", "sales.rates", "sales"]), "prefix-key": "sales", "parent": "sales",
        "namespace": "sales", "table": chance.choice(["orders", "orders@dev"]), "view": "totals", "warehouse": "lake",
        "filter": chance.choice(["1 < 2", "entry.contentType == 'ICEBERG_TABLE'", "commit.message != ''", "refType == 'TAG'"]),
    }.get(name)


def settle(values, path):
    for name in list(values or {}):
        there = pick(name, path)
        if there is not None and not isinstance(values[name], list):
            values[name] = there


def settle_body(body):
    if not isinstance(body, dict):
        return
    reference = chance.choice(REFERENCES)
    if "fromRefName" in body:
        body["fromRefName"] = reference
        if "fromHash" in body:
            body["fromHash"] = hash_of(reference)
        if body.get("hashesToTransplant"):
            body["hashesToTransplant"] = [hash_of(reference)]
    if body.get("type") in ("BRANCH", "TAG") and "hash" in body:
        body["name"], body["hash"] = "main", hash_of("main")
    if isinstance(body.get("metadata-location"), str):
        answer = call("GET", "/iceberg/v1/main/namespaces/sales/tables/orders")
        if answer.ok:
            body["metadata-location"] = answer.json()["metadata-location"]
    for side in ("source", "destination", "identifier"):
        if isinstance(body.get(side), dict):
            body[side]["namespace"] = ["sales"]
    if "onto" in body:
        body["onto"], body["ontoHash"], body["expectedHash"] = "main", hash_of("main"), hash_of("dev")


@schemathesis.serializer("application/x-ndjson")
def lines(context, value):
    """A stream of lines, which the generator has no way of its own to write."""
    return value if isinstance(value, bytes) else json.dumps(value).encode() + b"\n"


@schemathesis.hook
def before_call(context, case, kwargs):
    path = case.operation.path
    if path.startswith("/api/v1/trees/{type}") and str(case.path_parameters.get("type")).lower() not in ("branch", "tag"):
        # A path of no operation: answered without a body, as every unknown path is, which no document can say.
        case.path_parameters["type"] = "branch"
    if chance.random() < 0.5:
        return
    settle(case.path_parameters, path)
    for name, value in (case.path_parameters or {}).items():
        # Values in paths are taken as they are, and a reference may hold a slash.
        if str(value).startswith("team/x"):
            case.path_parameters[name] = quote(value)
    settle(case.query, path)
    if case.operation.method.lower() != "delete" or chance.random() < 0.9:
        settle_body(case.body)
