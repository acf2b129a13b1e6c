"""Commits, contents and what differs."""

import json


def test_contents_are_put_viewed_and_listed(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t", 7)
    found = nessie.view(nessie.branch, "a.t")
    assert (found["type"], found["snapshotId"]) == ("ICEBERG_TABLE", 7)
    assert found["id"]
    assert nessie.keys(nessie.branch, "-t", "ICEBERG_TABLE") == ["a.t"]
    assert nessie.keys(nessie.branch, "--filter", "entry.namespace.startsWith('a')") == ["a.t"]


def test_a_content_keeps_its_id(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t", 1)
    first = nessie.view(nessie.branch, "a.t")
    nessie.put(nessie.branch, "a.t", 2)
    second = nessie.view(nessie.branch, "a.t")
    assert second["id"] == first["id"] and second["snapshotId"] == 2


def test_a_content_is_deleted(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t")
    nessie.remove(nessie.branch, "a.t")
    assert nessie.keys(nessie.branch, "-t", "ICEBERG_TABLE") == []
    error = nessie.refused("content", "view", "-r", nessie.branch, "a.t")
    assert (error["status_code"], error["error_code"]) == (404, "CONTENT_NOT_FOUND")


def test_other_content_types_are_kept(nessie):
    nessie.namespace(nessie.branch, "a")
    delta = {
        "type": "DELTA_LAKE_TABLE",
        "id": None,
        "lastCheckpoint": "s3://bucket/checkpoint",
        "checkpointLocationHistory": ["s3://bucket/1"],
        "metadataLocationHistory": ["s3://bucket/2"],
    }
    nessie.commit(nessie.branch, "a.delta", delta, "a delta table")
    found = nessie.view(nessie.branch, "a.delta")
    assert {k: v for k, v in found.items() if k != "id"} == {k: v for k, v in delta.items() if k != "id"}
    view = {
        "type": "ICEBERG_VIEW",
        "id": None,
        "metadataLocation": "s3://bucket/view.json",
        "versionId": 1,
        "schemaId": 2,
        "dialect": "spark",
        "sqlText": "select 1",
    }
    nessie.commit(nessie.branch, "a.view", view, "a view")
    assert nessie.view(nessie.branch, "a.view")["versionId"] == 1
    assert nessie.keys(nessie.branch, "-t", "DELTA_LAKE_TABLE", "-t", "ICEBERG_VIEW") == ["a.delta", "a.view"]


def test_key_elements_with_dots(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.commit(
        nessie.branch,
        'a."b.c"',
        {
            "type": "ICEBERG_TABLE",
            "id": None,
            "metadataLocation": "s3://bucket/x",
            "snapshotId": 1,
            "schemaId": 0,
            "specId": 0,
            "sortOrderId": 0,
        },
        "a dot in a name",
    )
    (entry,) = nessie.json("content", "list", "-r", nessie.branch, "-t", "ICEBERG_TABLE")
    assert entry["name"]["elements"] == ["a", "b.c"]
    assert nessie.view(nessie.branch, 'a."b.c"')["snapshotId"] == 1


def test_a_commit_on_an_old_head_lands_when_nothing_conflicts(nessie):
    nessie.namespace(nessie.branch, "a")
    old = nessie.head(nessie.branch)
    nessie.put(nessie.branch, "a.t1")
    content = dict(nessie.view(nessie.branch, "a.t1"), id=None)
    nessie.say("content", "commit", "-i", "-r", nessie.branch, "-c", old, "-m", "late", "a.t2", stdin=json.dumps(content))
    assert nessie.keys(nessie.branch, "-t", "ICEBERG_TABLE") == ["a.t1", "a.t2"]


def test_a_commit_on_an_old_head_is_refused_when_the_key_changed(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.t", 1)
    old = nessie.head(nessie.branch)
    head = nessie.put(nessie.branch, "a.t", 2)
    content = dict(nessie.view(nessie.branch, "a.t"), snapshotId=3)
    words = ("content", "commit", "-i", "-r", nessie.branch, "-c", old, "-m", "late", "a.t")
    done = nessie.run(*words, stdin=json.dumps(content))
    assert done.exit_code == 1 and "409" in done.output and "a.t" in done.output
    assert nessie.head(nessie.branch) == head


def test_a_missing_namespace_is_named(nessie):
    content = {
        "type": "ICEBERG_TABLE",
        "id": None,
        "metadataLocation": "s3://bucket/x",
        "snapshotId": 1,
        "schemaId": 0,
        "specId": 0,
        "sortOrderId": 0,
    }
    words = ("content", "commit", "-i", "-r", nessie.branch, "-c", nessie.head(nessie.branch), "-m", "m", "nowhere.t")
    done = nessie.run(*words, stdin=json.dumps(content))
    assert done.exit_code == 1 and "nowhere" in done.output


def test_diff_shows_both_sides(nessie):
    nessie.namespace(nessie.branch, "a")
    nessie.put(nessie.branch, "a.changed", 1)
    nessie.put(nessie.branch, "a.removed", 1)
    other = nessie.name("other")
    nessie.say("branch", other, nessie.branch)
    nessie.put(other, "a.changed", 2)
    nessie.put(other, "a.added", 1)
    nessie.remove(other, "a.removed")
    differences = nessie.json("diff", nessie.branch, other)["diffs"]
    found = {
        ".".join(d["key"]["elements"]): tuple((d.get(side) or {}).get("snapshotId") for side in ("from", "to")) for d in differences
    }
    assert found == {"a.added": (None, 1), "a.changed": (1, 2), "a.removed": (1, None)}
    at_hash = nessie.json("diff", f"{nessie.branch}@{nessie.head(nessie.branch)}", other)["diffs"]
    assert len(at_hash) == 3
