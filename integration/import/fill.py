"""Fills a Nessie server with a repository that has a bit of everything. usage: fill.py SERVER COMMITS"""

import random
import sys

from client import NO_ANCESTOR, Server, drop, namespace, put, table

SEED = 20260601
# Operations of the one large commit: more than one line of the stream holds.
LARGE_COMMIT_OPERATIONS = 3_000


def main(root, commits):
    server, chance = Server(root), random.Random(SEED)
    kinds(server)
    metas(server)
    renames(server)
    histories(server)
    references(server)
    large(server)
    many(server, chance, commits)


def content_id(server, at, key):
    return server.entries(at)[tuple(key.split("."))]["id"]


def kinds(server):
    """Every kind of content, with all fields and with as few as can be; keys of every shape."""
    server.commit("main", [put("zoo", namespace("zoo")), put("zoo.deep", namespace("zoo.deep", owner="ann", empty=""))])
    server.commit("main", [
        put("zoo.table", table(1)),
        put("zoo.empty-table", table(-1, metadataLocation="")),
        put("zoo.big", table(2**63 - 1)),
        put("zoo.view", {"type": "ICEBERG_VIEW", "metadataLocation": "s3://lake/v", "versionId": 3, "schemaId": 1}),
        put("zoo.old-view", {"type": "ICEBERG_VIEW", "metadataLocation": "s3://lake/v", "versionId": 3, "schemaId": 1,
                             "sqlText": "select 'ü\u2028'", "dialect": "spark"}),
        put("zoo.delta", {"type": "DELTA_LAKE_TABLE", "metadataLocationHistory": ["a", "b"],
                          "checkpointLocationHistory": ["c"], "lastCheckpoint": "c"}),
        put("zoo.bare-delta", {"type": "DELTA_LAKE_TABLE", "metadataLocationHistory": [],
                               "checkpointLocationHistory": [], "lastCheckpoint": None}),
        put("zoo.udf", {"type": "UDF", "metadataLocation": "s3://lake/u", "versionId": "v", "signatureId": "s"}),
        put("zoo.old-udf", {"type": "UDF", "dialect": "spark", "sqlText": "x -> x"}),
    ])
    server.commit("main", [
        put(["zoo", "with.dot"], table(2)), put(["zoo", "with blank"], table(3)), put(["zoo", "ünï-ćode 🦊"], table(4)),
        put(["zoo", "q\"uote'"], table(5)), put(["zoo", "per%cent/slash"], table(6)), put(["zoo", "UPPER"], table(7)),
        put(["zoo", "upper"], table(8)),
    ])
    nest = [f"n{depth}" for depth in range(19)]
    server.commit("main", [put(nest[:end], namespace(nest[:end])) for end in range(1, 20)])
    server.commit("main", [put([*nest, "leaf"], table(9))])
    # A namespace whose properties change, and one that is no namespace any more.
    identity = content_id(server, "main", "zoo.deep")
    server.commit("main", [put("zoo.deep", {**namespace("zoo.deep", owner="bob"), "id": identity})])
    server.commit("main", [drop("zoo.deep")])
    server.commit("main", [put("zoo.deep", table(10))])


def metas(server):
    """What commits say about themselves."""
    server.commit("main", [put("zoo.m", table(20))], message="")
    identity = content_id(server, "main", "zoo.m")
    said = [
        {"message": "several lines\n\nwith\ttabs and 🦊\n"},
        {"message": "m" * 20_000},
        {"message": "two authors", "authors": ["ann", "Bob <bob@example.com>"], "allSignedOffBy": ["carol", "dave"]},
        {"message": "an author's time", "authors": ["ann"], "authorTime": "1999-12-31T23:59:59.123456Z"},
        {"message": "properties", "allProperties": {"app-id": ["etl-7"], "many": ["b", "a", "b"], "empty": [""],
                                                      "Ünknown.Key/with:signs": ["🦊"], "UPPER": ["x"], "upper": ["y"]}},
        # What an earlier import may have left.
        {"message": "came from elsewhere", "allProperties": {"import.source-hash": ["00112233"]}},
    ]
    for number, meta in enumerate(said):
        server.commit("main", [put("zoo.m", table(21 + number, id=identity))], **meta)
    server.commit("main", [{"type": "UNCHANGED", "key": {"elements": ["zoo", "m"]}}], message="nothing is changed")
    server.commit("main", [put("zoo.n", table(40)), {"type": "UNCHANGED", "key": {"elements": ["zoo", "m"]}}])


def renames(server):
    """A content under another key, keys that swap, a content dropped and made anew in one commit and in two."""
    server.commit("main", [put("ren", namespace("ren")), put("ren.a", table(50)), put("ren.b", table(51))])
    a, b = (content_id(server, "main", key) for key in ("ren.a", "ren.b"))
    server.commit("main", [drop("ren.a"), put("ren.c", table(50, id=a))], message="rename")
    server.commit("main", [drop("ren.b"), put("ren.d", table(52, id=b))], message="rename and change")
    server.commit("main", [drop("ren.c"), put("ren.c", table(53))], message="made anew")
    server.commit("main", [drop("ren.c")])
    server.commit("main", [put("ren.c", table(54))], message="back, as another content")
    server.commit("main", [drop("ren.d")])
    server.commit("main", [put("ren.d", {"type": "UDF", "metadataLocation": "m", "versionId": "1", "signatureId": "1"})],
                  message="another kind")


def histories(server):
    """Merges, transplants, criss-cross, a merge whose source is gone."""
    server.create("BRANCH", "dev", "main")
    server.commit("dev", [put("dev", namespace("dev", team="x")), put("dev.t", table(60))])
    for number in range(5):
        server.commit("dev", [put(f"dev.k{number}", table(61 + number))])
    server.commit("main", [put("other", table(70))])
    server.merge("dev", "main", message="merge dev")
    server.merge("main", "dev")
    server.commit("dev", [put("after", table(71))])
    server.commit("main", [put("dev.own", table(72))])
    server.create("BRANCH", "dev-2", "dev")
    server.merge("main", "dev", message="criss")
    server.merge("dev-2", "main", message="cross")
    server.create("BRANCH", "pick", "main~5")
    picked = [entry["commitMeta"]["hash"] for entry in server.log("dev-2")[:1]]
    server.transplant("dev-2", picked, "pick")
    # Several at once: the reference server gives them one time.
    source = server.head("pick")
    server.create("BRANCH", "many-picks", "pick")
    for number in range(8):
        server.commit("many-picks", [put(f"pick{number}", table(80 + number))])
    picked = [entry["commitMeta"]["hash"] for entry in server.log("many-picks")[:8]]
    assert source not in picked
    server.transplant("many-picks", picked[::-1], "pick")
    server.create("BRANCH", "gone", "main")
    server.commit("gone", [put("from-gone", table(90))])
    server.merge("gone", "main", message="the source goes")
    server.delete("gone")
    # Into a branch without commits, from one that goes.
    server.create("BRANCH", "filled", NO_ANCESTOR)
    server.create("BRANCH", "gone-too", NO_ANCESTOR)
    server.commit("gone-too", [put("first", table(96))])
    server.transplant("gone-too", [server.head("gone-too")], "filled")
    server.delete("gone-too")
    server.commit("filled", [put("second", table(97))])
    # Of a clash one side wins.
    server.create("BRANCH", "clash", "main")
    identity = content_id(server, "main", "other")
    server.commit("clash", [put("other", table(91, id=identity))])
    server.commit("main", [put("other", table(92, id=identity))])
    server.merge("clash", "main", defaultKeyMergeMode="FORCE")
    server.commit("clash", [put("other", table(93, id=identity))])
    server.commit("main", [put("other", table(94, id=identity)), put("more", table(95))])
    server.merge("clash", "main", keyMergeModes=[{"key": {"elements": ["other"]}, "mergeBehavior": "DROP"}])


def references(server):
    """Names, tags, heads in the middle of a history, at no commit, and moved back."""
    server.create("TAG", "v1.0", "main")
    server.create("TAG", "release/2026/06", "main~3")
    server.create("BRANCH", "feature/ann_x-1.y", "main~10")
    server.create("BRANCH", "empty", NO_ANCESTOR)
    server.create("TAG", "empty-tag", NO_ANCESTOR)
    server.create("BRANCH", "root", NO_ANCESTOR)
    server.commit("root", [put("own", table(100))], message="a history of its own")
    server.create("BRANCH", "moved", "main")
    for number in range(3):
        server.commit("moved", [put(f"moved{number}", table(101 + number))])
    server.create("TAG", "what-was", "moved")
    server.assign("moved", "main~7")
    server.create("BRANCH", "deleted", "main")
    server.commit("deleted", [put("deleted", table(110))])
    server.delete("deleted")


def large(server):
    keys = [f"l{number:05}" for number in range(LARGE_COMMIT_OPERATIONS)]
    server.create("BRANCH", "large", "main")
    server.commit("large", [put("large", namespace("large")), *(put(f"large.{key}", table(1)) for key in keys)])
    server.commit("large", [drop(f"large.{key}") for key in keys[::3]], message="a third of it again")


def many(server, chance, commits):
    """Random work on several branches until there are so many commits."""
    branches = ["main", "dev", "pick"]
    for branch in branches:
        if ("r",) not in server.entries(branch):
            server.commit(branch, [put("r", namespace("r"))])
    for number in range(commits):
        branch = chance.choice(branches)
        if number % 40 == 39:
            server.merge(chance.choice([other for other in branches if other != branch]), branch,
                         defaultKeyMergeMode="FORCE")
            continue
        key = f"r.{chance.randrange(60)}"
        there = server.send("POST", f"/api/v2/trees/{branch}/contents",
                            {"requestedKeys": [{"elements": key.split(".")}]})["contents"]
        if there and chance.random() < 0.2:
            server.commit(branch, [drop(key)])
        else:
            more = {"id": there[0]["content"]["id"]} if there else {}
            server.commit(branch, [put(key, table(1_000 + number, **more))], authors=[chance.choice(["ann", "bob"])])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
