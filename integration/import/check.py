"""Takes the repository of another Nessie server into Lochan with the command line, and compares everything that both show.

usage: check.py NESSIE LOCHAN CLI FOLDER
"""

import datetime
import json
import pathlib
import random
import subprocess
import sys
import time

import checks
from checks import check
from client import NO_ANCESTOR, Server, quoted

# States in the middle of the history whose whole contents are compared, and pairs of which the differences are.
STATES_COMPARED, DIFFS_COMPARED = 60, 20
# How much later a commit may be than at the source: a microsecond for each of its time.
RAISED_MICROS_MAX = 1_000
SOURCE_HASH = "import.source-hash"


def micros(text):
    moment = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (moment - datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)) // datetime.timedelta(microseconds=1)


def run(cli, server, *words):
    began = time.monotonic()
    ran = subprocess.run([cli, "--endpoint", server.root, "--json", *words], capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"FAILED: lochan {' '.join(words)}: {ran.stderr}")
    return json.loads(ran.stdout), time.monotonic() - began


def main(nessie, lochan, cli, folder):
    old, new, folder = Server(nessie), Server(lochan), pathlib.Path(folder)
    stream, table = folder / "repository.ndjson", folder / "hashes.tsv"
    exported, out_seconds = run(cli, old, "export", str(stream))
    state, in_seconds = run(cli, new, "import", str(stream), "--table", str(table))
    check("the stream is one of another Nessie server", exported["source"] == "NESSIE", exported)
    check("the import is done", state["status"] == "DONE" and not state["hashesKept"], state)
    rows = [line.split("\t") for line in table.read_text().splitlines()]
    hashes = {NO_ANCESTOR: NO_ANCESTOR, **dict(rows)}
    check("old hashes and new ones are one to one", len(set(hashes.values())) == len(hashes) == len(rows) + 1, len(rows))
    check("the table has every commit", len(rows) == exported["commits"] == state["commits"], (exported, state))
    references(old, new, hashes)
    heads, commits = histories(old, new, hashes, state["timesRaised"])
    contents(old, new, hashes, heads, commits)
    diffs(old, new, hashes, commits)
    again, _ = run(cli, new, "import", str(stream))
    check("a second import of the stream changes nothing", again == {**state, "already": True}, again)
    out, _ = run(cli, new, "export", str(folder / "again.ndjson"))
    check("what comes out again has as many commits and references",
          [out[what] for what in ("commits", "references")] == [exported[what] for what in ("commits", "references")], out)
    print(f"{len(rows)} commits, {exported['references']} references: export {out_seconds:.1f} s, import {in_seconds:.1f} s")
    print(f"{checks.passed} passed, 0 failed, 0 skipped")


def references(old, new, hashes):
    """All branches and tags, at the same commits."""
    def shown(server):
        return {(one["type"], one["name"]): one["hash"] for one in server.references()}

    expected = {name: hashes.get(head) for name, head in shown(old).items()}
    found = shown(new)
    check(f"{len(expected)} references stand where they stood", found == expected, differences(expected, found))


def histories(old, new, hashes, times_raised):
    """The logs of all references and of everything merged: what commits say, their parents and their operations."""
    open_logs = [(one["name"], one["name"]) for one in old.references()]
    logs, seen, raised = [], set(), set()
    while open_logs:
        name, there = open_logs.pop()
        before, after = old.log(name), new.log(there)
        if len(before) != len(after):
            sys.exit(f"FAILED: the log of {name} has {len(after)} commits, not {len(before)}")
        for one, other in zip(before, after, strict=True):
            hash, expected, found = one["commitMeta"]["hash"], entry(one, hashes), entry(other, None)
            late = micros(found["time"]) - micros(expected["time"])
            if not 0 <= late < RAISED_MICROS_MAX:
                sys.exit(f"FAILED: the time of {hash} moved by {late} µs")
            if late:
                raised.add(hash)
            expected["time"] = found["time"]  # Nanoseconds of the source are cut off.
            if expected != found:
                sys.exit(f"FAILED: commit {hash} of {name}: {differences(expected, found)}")
            merged = one["commitMeta"]["parentCommitHashes"][1:]
            open_logs += [(f"@{parent}", f"@{hashes[parent]}") for parent in merged if parent not in seen]
            seen.update([hash, *merged])
        times = [micros(one["commitMeta"]["commitTime"]) for one in after]
        if any(later <= earlier for later, earlier in zip(times, times[1:])):
            sys.exit(f"FAILED: times of {name} do not grow")
        logs.append((name, there))
    check(f"all {len(seen)} commits say the same, with the old hash as a property", len(seen) == len(hashes) - 1, len(seen))
    check(f"times are those of the source, but {times_raised} that did not grow", len(raised) == times_raised, len(raised))
    return logs, sorted(seen)


def entry(shown, hashes):
    """A commit of a log, in words that both servers share: of the source with the hashes that are expected."""
    meta = dict(shown["commitMeta"])
    parents = [parent for parent in meta["parentCommitHashes"]]
    properties = {name: list(values) for name, values in meta.get("allProperties", {}).items()}
    hash = meta["hash"]
    if hashes is not None:
        properties[SOURCE_HASH] = [hash, *properties.get(SOURCE_HASH, [])]
        hash, parents = hashes[hash], [hashes.get(parent, f"unknown {parent}") for parent in parents]
    operations = {}
    for operation in shown["operations"] or []:
        if operation["type"] != "UNCHANGED":
            operations[tuple(operation["key"]["elements"])] = (operation["type"], operation.get("content"))
    return {
        "hash": hash, "parents": parents, "properties": properties, "operations": operations,
        "parent": parents[0] if parents else None, "time": meta["commitTime"], "author time": meta["authorTime"],
        **{name: meta[name] for name in ("message", "committer", "authors", "allSignedOffBy")},
    }


def contents(old, new, hashes, heads, commits):
    """Everything that each head and some older states hold."""
    older = random.Random(1).sample(commits, STATES_COMPARED)
    for at, there in [*heads, *((f"@{hash}", f"@{hashes[hash]}") for hash in older)]:
        expected, found = old.entries(at), new.entries(there)
        if expected != found:
            sys.exit(f"FAILED: the contents of {at}: {differences(expected, found)}")
    check(f"the contents of {len(heads)} heads and {STATES_COMPARED} older states are the same", True)


def diffs(old, new, hashes, commits):
    chance = random.Random(2)

    def shown(server, one, other):
        return list(server.pages(f"/api/v2/trees/{quoted(one)}/diff/{quoted(other)}", "diffs"))

    for _ in range(DIFFS_COMPARED):
        one, other = chance.sample(commits, 2)
        expected, found = shown(old, f"@{one}", f"@{other}"), shown(new, f"@{hashes[one]}", f"@{hashes[other]}")
        if expected != found:
            sys.exit(f"FAILED: the differences of {one} and {other}: {expected} {found}")
    check(f"{DIFFS_COMPARED} differences are the same", True)


def differences(expected, found):
    keys = [key for key in {**expected, **found} if expected.get(key) != found.get(key)]
    return "; ".join(f"{key}: {expected.get(key)!r:.600} became {found.get(key)!r:.600}" for key in keys[:5])


if __name__ == "__main__":
    main(*sys.argv[1:5])
