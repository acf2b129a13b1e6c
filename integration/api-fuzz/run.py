"""Generates requests from the OpenAPI documents of a running server, and checks every answer against them.

Each document is taken from the server itself and run on its own: examples, edge cases of every parameter, random requests,
and walks along the links. Two run side by side, as generating is what takes the time. The seed is fixed, so that a failure
comes again; LOCHAN_FUZZ_SEED sets another.

usage: run.py SERVER_URL FOLDER CASES
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

# What a document promises. Whether requests that break it are refused is not among it: the readers of Nessie and Iceberg
# are lenient by contract (both spellings of a field, numbers as text, unknown fields).
CHECKS = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
]
# Answers of 501: the token routes, which issue no tokens and say so. They are part of the examples and edge cases that
# every run has; `not_a_server_error` would call each of them a failure.
PLANNED_5XX = ["getToken", "getTokenOfReference"]
SIDE_BY_SIDE = 2
RUN_SECONDS_MAX = 1500
# Cases that a run has besides the random ones, per operation, about: examples, edge cases, walks.
OTHER_CASES = 60


def fetch(url: str) -> dict:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def run(server: str, folder: pathlib.Path, name: str, document: dict, examples: int) -> dict:
    """Runs one document and returns the report."""
    source, report = folder / f"{name}.json", folder / f"{name}-report.json"
    source.write_text(json.dumps(document))
    command = [
        pathlib.Path(sys.executable).with_name("schemathesis"), "run", source, "--url", server,
        "--phases", "examples,coverage,fuzzing,stateful", "--max-examples", str(examples),
        "--checks", ",".join(CHECKS), "--seed", os.environ.get("LOCHAN_FUZZ_SEED", "20260501"),
        "--workers", "1", "--continue-on-failure", "--no-shrink", "--generation-database", "none",
        "--suppress-health-check", "all", "--request-timeout", "30", "--warnings", "off",
        "--report", "json", "--report-json-path", report, "--no-color",
    ]
    for planned in PLANNED_5XX:
        command += ["--exclude-operation-id", planned]
    hooks = {"PYTHONPATH": str(pathlib.Path(__file__).parent), "SCHEMATHESIS_HOOKS": "hooks", "LOCHAN_URL": server}
    began = time.monotonic()
    with open(folder / f"{name}.log", "w") as log:
        code = subprocess.run(
            command, cwd=folder, env={**os.environ, **hooks}, stdout=log, stderr=subprocess.STDOUT, timeout=RUN_SECONDS_MAX
        ).returncode
    if not report.exists():
        raise SystemExit(f"{name}: no report\n" + "\n".join((folder / f"{name}.log").read_text().splitlines()[-40:]))
    told = json.loads(report.read_text())
    return {"name": name, "seconds": time.monotonic() - began, "code": code, **told}


def main() -> int:
    server, folder, cases = sys.argv[1].rstrip("/"), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    index = fetch(f"{server}/openapi")
    documents = {pathlib.Path(entry["json"]).stem: fetch(server + entry["json"]) for entry in index["documents"]}
    operations = {name: sum(len(item) for item in document["paths"].values()) for name, document in documents.items()}
    examples = max(5, -(-cases // sum(operations.values())) - OTHER_CASES)
    print(f"{sum(operations.values())} operations of {len(documents)} documents, {examples} random requests each", flush=True)
    # The longest first.
    order = sorted(documents, key=lambda name: -operations[name])
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        reports = list(pool.map(lambda name: run(server, folder, name, documents[name], examples), order))
    total, failed = 0, False
    for report in reports:
        counts = report["test_cases"]
        total += counts["generated"]
        bad = counts["with_failures"] + counts["errored"]
        failed |= bool(bad) or bool(report["failures"]) or report["operations"]["errored"] > 0 or report["code"] != 0
        print(f"{report['name']}: {counts['generated']} cases, {bad} bad, {report['seconds']:.0f} s", flush=True)
        if bad or report["failures"] or report["code"] != 0:
            print("\n".join(line[:400] for line in (folder / f"{report['name']}.log").read_text().splitlines()[-150:]))
    print(f"{total} cases, {'with failures' if failed else 'no failure'}")
    if total < cases:
        print(f"fewer than the {cases} that were asked for")
        failed = True
    return 1 if failed else 0


sys.exit(main())
