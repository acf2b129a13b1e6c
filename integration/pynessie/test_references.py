"""Branches and tags: create, list, assign, delete, and what is refused."""


def test_the_remote_is_shown(nessie):
    said = nessie.say("remote", "show")
    assert "main" in said and nessie.branch in said


def test_a_branch_is_created_listed_and_deleted(nessie):
    new = nessie.name("new")
    nessie.say("branch", new, nessie.branch)
    assert nessie.head(new) == nessie.head(nessie.branch)
    assert new in [r["name"] for r in nessie.json("branch")]
    assert new in nessie.say("-v", "branch", "-l")
    nessie.say("branch", "-d", new)
    assert nessie.json("branch", "-l", new) == {}


def test_a_branch_begins_at_a_hash(nessie):
    nessie.namespace(nessie.branch, "a")
    before = nessie.put(nessie.branch, "a.t", 1)
    nessie.put(nessie.branch, "a.t", 2)
    for name, words in (("by-option", ["-o", before, nessie.branch]), ("by-text", [f"{nessie.branch}@{before}"])):
        new = nessie.name(name)
        base = words[-1:]
        nessie.say("branch", *words[:-1], new, *base)
        assert nessie.head(new) == before


def test_a_branch_is_assigned(nessie):
    other = nessie.name("other")
    nessie.say("branch", other, nessie.branch)
    head = nessie.namespace(nessie.branch, "a")
    nessie.say("branch", "-f", other, nessie.branch)
    assert nessie.head(other) == head


def test_tags_stay_where_they_are(nessie):
    tag = nessie.name("tag")
    first = nessie.namespace(nessie.branch, "a")
    nessie.say("tag", tag, nessie.branch)
    second = nessie.namespace(nessie.branch, "b")
    assert nessie.json("tag", "-l", tag)["hash"] == first
    assert tag in [r["name"] for r in nessie.json("tag")]
    nessie.say("tag", "-f", tag, nessie.branch)
    assert nessie.json("tag", "-l", tag)["hash"] == second
    nessie.say("tag", "-d", tag)
    assert nessie.json("tag", "-l", tag) == {}


def test_extended_listing_counts_commits(nessie):
    other = nessie.name("other")
    nessie.say("branch", other, "main")
    nessie.namespace(other, nessie.name("a").replace("-", "_"))
    (found,) = [r for r in nessie.json("branch", "-x") if r["name"] == other]
    assert found["metadata"]["numCommitsAhead"] == 1
    assert found["metadata"]["commitMetaOfHEAD"]["message"].startswith("namespace ")


def test_what_exists_is_not_created_again(nessie):
    error = nessie.refused("branch", nessie.branch, "main")
    assert (error["status_code"], error["error_code"]) == (409, "REFERENCE_ALREADY_EXISTS")


def test_unknown_references_are_not_found(nessie):
    missing = nessie.name("missing")
    error = nessie.refused("log", missing)
    assert (error["status_code"], error["error_code"]) == (404, "REFERENCE_NOT_FOUND")
    assert missing in error["server_message"]


def test_a_reference_that_moved_is_not_assigned(nessie):
    old = nessie.head(nessie.branch)
    nessie.namespace(nessie.branch, "a")
    error = nessie.refused("branch", "-f", "-c", old, nessie.branch, "main")
    assert (error["status_code"], error["error_code"]) == (409, "REFERENCE_CONFLICT")
