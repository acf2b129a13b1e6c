"""Logs with their filters, merges, cherry-picks, and the main job."""

import re


def test_log_filters(nessie):
    nessie.namespace(nessie.branch, "a")
    first = nessie.put(nessie.branch, "a.t", 1, author="ann")
    second = nessie.put(nessie.branch, "a.t", 2, author="bob")
    third = nessie.put(nessie.branch, "a.t", 3, author="ann")
    assert nessie.hashes(nessie.branch)[:3] == [third, second, first]
    assert nessie.hashes(nessie.branch, "-n", "2") == [third, second]
    assert nessie.hashes(nessie.branch, "--author", "ann") == [third, first]
    assert nessie.hashes(nessie.branch, "--author", "ann", "--author", "bob") == [third, second, first]
    assert nessie.hashes(nessie.branch, "--filter", "commit.message == 'put a.t 2'") == [second]
    assert nessie.hashes(nessie.branch, "-r", f"{first}..{third}") == [third, second, first]
    assert nessie.hashes(nessie.branch, "--since", "2001-01-01T00:00:00+00:00")[:3] == [third, second, first]
    assert nessie.hashes(nessie.branch, "--until", "2001-01-01T00:00:00+00:00") == []
    assert nessie.hashes(f"{nessie.branch}@{second}")[:2] == [second, first]
    assert nessie.hashes(second)[:2] == [second, first]


def test_log_as_text(nessie):
    nessie.namespace(nessie.branch, "a")
    head = nessie.put(nessie.branch, "a.t", 1, message="told in words", author="ann")
    said = nessie.say("log", nessie.branch)
    assert said.startswith(f"commit {head} ({nessie.branch})")
    assert "Author: ann" in said.replace("Author:\t", "Author: ") and "\ttold in words" in said


def test_extended_log_has_operations_and_parents(nessie):
    base = nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t", 1)
    entry = nessie.json("log", nessie.branch, "-x")[0]
    assert entry["parentCommitHash"] == base
    (operation,) = entry["operations"]
    assert (operation["type"], operation["key"]["elements"]) == ("PUT", ["a", "t"])


def test_a_merge_is_one_commit(nessie):
    nessie.namespace(nessie.branch, "a")
    base = nessie.head(nessie.branch)
    other = nessie.name("other")
    nessie.say("branch", other, nessie.branch)
    nessie.put(other, "a.t1")
    nessie.put(other, "a.t2")
    said = nessie.merge(other, nessie.branch)
    assert f"Merged {other} onto {nessie.branch}" in said and base in said
    assert re.search(rf"Resultant hash on {nessie.branch} after merge:\s*{nessie.head(nessie.branch)}", said)
    assert nessie.hashes(nessie.branch)[1] == base
    assert nessie.keys(nessie.branch, "-t", "ICEBERG_TABLE") == ["a.t1", "a.t2"]


def test_a_merge_of_what_conflicts_is_refused(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t", 1)
    other = nessie.name("other")
    nessie.say("branch", other, nessie.branch)
    nessie.put(other, "a.t", 2)
    head = nessie.put(nessie.branch, "a.t", 3)
    error = nessie.refused("merge", "-b", nessie.branch, "-c", head, other)
    assert (error["status_code"], error["error_code"]) == (409, "REFERENCE_CONFLICT")
    assert "a.t" in error["server_message"]
    assert nessie.head(nessie.branch) == head


def test_cherry_pick_takes_single_commits(nessie):
    nessie.namespace(nessie.branch, "a")
    other = nessie.name("other")
    nessie.say("branch", other, nessie.branch)
    nessie.put(other, "a.skipped")
    wanted = nessie.put(other, "a.wanted", message="the wanted one")
    said = nessie.say("cherry-pick", "-b", nessie.branch, "-c", nessie.head(nessie.branch), "-s", other, wanted)
    assert f"Cherry-picked onto {nessie.branch}" in said
    assert nessie.keys(nessie.branch, "-t", "ICEBERG_TABLE") == ["a.wanted"]
    assert nessie.json("log", nessie.branch, "-n", "1")[0]["message"] == "the wanted one"


def test_the_main_job(nessie):
    """Load, branch, change, merge past a concurrent change, conflict, tag, reset: all with pynessie."""
    trunk, tables = nessie.branch, ["nyc.airlines", "nyc.airports", "nyc.flights", "nyc.planes", "nyc.weather"]
    start = nessie.head(trunk)
    load = nessie.name("load")
    nessie.say("branch", load, trunk)
    nessie.namespace(load, "nyc")
    for table in tables:
        nessie.put(load, table)
    assert nessie.head(trunk) == start
    nessie.merge(load, trunk)
    assert nessie.keys(trunk, "-t", "ICEBERG_TABLE") == tables

    feature = nessie.name("dev-feature-x")
    nessie.say("branch", feature, trunk)
    nessie.put(feature, "nyc.flights", 2)
    nessie.put(feature, "nyc.flights", 3)
    nessie.put(feature, "nyc.carrier_delays")
    nessie.put(trunk, "nyc.airlines", 2)
    before = nessie.head(trunk)
    nessie.merge(feature, trunk)
    assert nessie.view(trunk, "nyc.flights")["snapshotId"] == 3
    assert nessie.view(trunk, "nyc.airlines")["snapshotId"] == 2
    assert nessie.keys(trunk, "-t", "ICEBERG_TABLE") == sorted([*tables, "nyc.carrier_delays"])

    rival = nessie.name("dev-feature-y")
    nessie.say("branch", rival, trunk)
    nessie.put(rival, "nyc.flights", 4)
    head = nessie.put(trunk, "nyc.flights", 5)
    error = nessie.refused("merge", "-b", trunk, "-c", head, rival)
    assert error["status_code"] == 409 and "nyc.flights" in error["server_message"]

    tag = nessie.name("release")
    nessie.say("tag", tag, trunk)
    nessie.say("branch", "-f", "-o", before, trunk, trunk)
    assert nessie.head(trunk) == before
    assert nessie.view(trunk, "nyc.flights")["snapshotId"] == 1
    assert nessie.keys(trunk, "-t", "ICEBERG_TABLE") == tables
    assert nessie.view(tag, "nyc.flights")["snapshotId"] == 5
    assert nessie.hashes(tag)[2:] == nessie.hashes(trunk)
