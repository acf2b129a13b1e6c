"""The main job, end to end: real data, a branch, changes on it, a merge, a conflict, a tag, a reset.

usage: main.py --ready F --cli PROGRAM --pynessie PROGRAM [--s3 F] [--warehouse NAME]

`--ready` is the server's ready file. `--s3` is a file with the object store's settings; without it they are taken from
the ready file, where `lochan-server dev` puts them. Ends with `N passed, 0 failed`, or at the first figure that is wrong.
"""

import argparse
import json
import sys
import time

import pyarrow as pa
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import DoubleType

import flights
from lake import Lake, Reader
from story import Failed, Story
from tools import Cli, Pynessie, Raw

NAMESPACE = "nyc"
BRANCH = "dev-feature-x"
RIVAL = "dev-feature-y"
TAG = "june-corrected"
TABLES = sorted(flights.ROWS)
TOTAL = flights.ROWS["flights"]
TOTAL_ON_BRANCH = TOTAL - flights.MONTH_ROWS + flights.MONTH_ROWS_FLOWN - flights.CARRIER_ROWS


def at(reference, table):
    return Reader.path(reference, NAMESPACE, table)


class Demo:
    def __init__(self, lake, cli, pynessie, raw):
        self.lake, self.cli, self.pynessie, self.raw = lake, cli, pynessie, raw
        self.base = 0  # commits on main before the demo began
        self.story = Story()

    def run(self):
        source = flights.load()
        self.load(source)
        self.change_on_branch(source)
        self.compare_branches()
        before_merge = self.merge_past_a_concurrent_change()
        self.conflict()
        self.tag_and_reset(before_merge)
        self.same_history_everywhere()
        return self.story.checks

    def load(self, source):
        story, raw = self.story, self.raw
        story.step("Load five real tables into main, in one branch-and-merge")
        self.base = before = len(raw.hashes("main"))
        self.cli.told(story, "branch", "load-2013", "main")
        catalog = self.lake.catalog("load-2013")
        catalog.create_namespace_if_not_exists(NAMESPACE)
        for name, rows in source.items():
            began = time.monotonic()
            table = self.create(catalog, name, rows)
            table.append(rows)
            seconds = time.monotonic() - began
            story.check(f"{name} loaded on load-2013 in {seconds:.1f} s, rows", rows.num_rows, flights.ROWS[name])
        story.check("commits on main meanwhile", len(raw.hashes("main")) - before, 0)
        self.cli.told(story, "merge", "load-2013", "into", "main")
        story.check("new commits on main", len(raw.hashes("main")) - before, 1)
        reader = self.lake.reader("main")
        story.check("tables on main", reader.tables("main", NAMESPACE), TABLES)
        story.check("rows on main", {n: reader.rows(at("main", n)) for n in flights.ROWS}, flights.ROWS)

    @staticmethod
    def create(catalog, name, rows):
        if name != "flights":
            return catalog.create_table((NAMESPACE, name), schema=rows.schema)
        table = catalog.create_table((NAMESPACE, name), schema=rows.schema)
        # Partitioned by month, so that overwriting one rewrites one file.
        with table.update_spec() as spec:
            spec.add_field("month", IdentityTransform(), "month")
        return table

    def change_on_branch(self, source):
        story = self.story
        story.step(f"Work on {BRANCH} while main stays as it is")
        main_head = self.raw.head("main")
        self.cli.told(story, "branch", BRANCH, "main")
        catalog = self.lake.catalog(BRANCH)
        table = catalog.load_table((NAMESPACE, "flights"))
        with table.update_schema() as schema:
            schema.add_column("gain", DoubleType(), "minutes made up in the air")
        story.tell("schema of flights evolved: a column `gain`")
        corrected = flights.month_flown(source["flights"])
        story.check("flights of June that arrived", corrected.num_rows, flights.MONTH_ROWS_FLOWN)
        table.overwrite(corrected, overwrite_filter=f"month == {flights.MONTH}")
        story.tell("June overwritten with them, `gain` filled in")
        table.delete(f"carrier == '{flights.CARRIER}'")
        story.tell(f"carrier {flights.CARRIER} deleted")
        summary = flights.carrier_delays(table.scan().to_arrow())
        catalog.create_table((NAMESPACE, "carrier_delays"), schema=summary.schema).append(summary)
        story.check("a new table carrier_delays, rows", summary.num_rows, 15)
        story.check("main is where it was", self.raw.head("main"), main_head)

    def compare_branches(self):
        story = self.story
        story.step("Read both branches with DuckDB: they differ exactly by that")
        reader = self.lake.reader("main", BRANCH)
        ours, theirs = at("main", "flights"), at(BRANCH, "flights")
        story.check("tables on main", reader.tables("main", NAMESPACE), TABLES)
        story.check(f"tables on {BRANCH}", reader.tables(BRANCH, NAMESPACE), sorted([*TABLES, "carrier_delays"]))
        columns = reader.columns(ours)
        story.check("columns of flights on main", len(columns), 19)
        story.check(f"columns more on {BRANCH}", [c for c in reader.columns(theirs) if c not in columns], ["gain"])
        story.check("flights on main", reader.rows(ours), TOTAL)
        story.check(f"flights on {BRANCH}", reader.rows(theirs), TOTAL_ON_BRANCH)
        month, carrier = f"month = {flights.MONTH}", f"carrier = '{flights.CARRIER}'"
        cancelled = flights.MONTH_ROWS - flights.MONTH_ROWS_FLOWN
        both = flights.CARRIER_ROWS_IN_MONTH
        names = ", ".join(columns)
        gone = cancelled + flights.CARRIER_ROWS
        story.check("rows of main that the branch has not", reader.only_in(ours, theirs, names), gone)
        story.check(
            "  of them June flights that never arrived",
            reader.only_in(ours, theirs, names, f"{month} AND NOT {carrier}"),
            cancelled,
        )
        story.check(
            f"  of them flights of {flights.CARRIER}",
            reader.only_in(ours, theirs, names, carrier),
            flights.CARRIER_ROWS,
        )
        story.check("rows of the branch that main has not", reader.only_in(theirs, ours, names), 0)
        story.check(
            "rows of the branch with a gain",
            reader.rows(theirs, "gain IS NOT NULL"),
            flights.MONTH_ROWS_FLOWN - both,
        )
        for name in TABLES:
            if name != "flights":
                left = reader.only_in(at("main", name), at(BRANCH, name))
                right = reader.only_in(at(BRANCH, name), at("main", name))
                story.check(f"rows that differ in {name}", left + right, 0)

    def merge_past_a_concurrent_change(self):
        story, raw = self.story, self.raw
        story.step("A change on main meanwhile, then merge")
        airline = pa.Table.from_pylist([{"carrier": "LN", "name": "Lochan Air"}])
        self.lake.catalog("main").load_table((NAMESPACE, "airlines")).append(airline)
        story.tell("an airline appended on main, which the branch knows nothing of")
        before = raw.hashes("main")
        self.cli.told(story, "merge", BRANCH, "into", "main")
        after = raw.hashes("main")
        story.check("new commits on main", len(after) - len(before), 1)
        story.check("main's history goes on from where it was", after[1:], before)
        self.read_merged("main")
        reader = self.lake.reader("main", BRANCH)
        ours, theirs = at("main", "flights"), at(BRANCH, "flights")
        story.check("flights that differ from the branch", reader.only_in(ours, theirs) + reader.only_in(theirs, ours), 0)
        return before[0]

    def read_merged(self, reference, missing=0):
        story, reader = self.story, self.lake.reader(reference)
        story.check(f"flights on {reference}", reader.rows(at(reference, "flights")), TOTAL_ON_BRANCH - missing)
        story.check(f"airlines on {reference}", reader.rows(at(reference, "airlines")), flights.ROWS["airlines"] + 1)
        story.check(f"tables on {reference}", reader.tables(reference, NAMESPACE), sorted([*TABLES, "carrier_delays"]))

    def conflict(self):
        story, raw = self.story, self.raw
        story.step("A real conflict: both sides change the same table")
        self.cli.told(story, "branch", RIVAL, "main")
        self.lake.catalog(RIVAL).load_table((NAMESPACE, "flights")).delete(f"carrier == '{flights.RIVAL_CARRIER}'")
        self.lake.catalog("main").load_table((NAMESPACE, "flights")).delete(f"carrier == '{flights.CUT_CARRIER}'")
        story.tell(f"{RIVAL} deleted the flights of {flights.RIVAL_CARRIER}, main those of {flights.CUT_CARRIER}")
        head = raw.head("main")
        code, output = self.cli.run("merge", RIVAL, "into", "main")
        story.quote(f"lochan merge {RIVAL} into main", output)
        story.holds("the command fails", code != 0)
        story.holds("it names the table", f"{NAMESPACE}.flights" in output, output)
        status, answer = raw.merge(RIVAL, "main")
        story.check("status of the raw API", status, 409)
        conflicts = (answer.get("errorDetails") or {}).get("conflicts") or []
        keys = [".".join(c["key"]["elements"]) for c in conflicts]
        story.check("keys in conflict", keys, [f"{NAMESPACE}.flights"])
        story.check("main is where it was", raw.head("main"), head)
        story.check("flights on main", self.lake.reader("main").rows(at("main", "flights")), TOTAL_ON_BRANCH - flights.CUT_ROWS)

    def tag_and_reset(self, before_merge):
        story, raw = self.story, self.raw
        story.step("Tag what is there, then reset main to the state before the merge")
        head = raw.head("main")
        self.cli.told(story, "tag", TAG, "main")
        story.check("the tag stands at main's head", raw.head(TAG), head)
        self.cli.told(story, "reset", "main", "to", before_merge)
        story.check("main stands at the hash before", raw.head("main"), before_merge)
        reader = self.lake.reader("main")
        story.check("tables on main", reader.tables("main", NAMESPACE), TABLES)
        story.check("flights on main", reader.rows(at("main", "flights")), TOTAL)
        story.check("airlines on main", reader.rows(at("main", "airlines")), flights.ROWS["airlines"] + 1)
        story.check("columns of flights on main", len(reader.columns(at("main", "flights"))), 19)
        story.tell("and nothing is lost, the tag still reads what was merged:")
        self.read_merged(TAG, missing=flights.CUT_ROWS)

    def same_history_everywhere(self):
        story = self.story
        story.step("The same history, seen three ways")
        self.cli.told(story, "log", TAG)
        # Two merges and two changes stand on main's line, five changes on the branch's.
        for reference, commits in (("main", 2), (TAG, 4), (BRANCH, 6)):
            hashes = self.raw.hashes(reference)
            story.check(f"commits of {reference}, by the raw API", len(hashes) - self.base, commits)
            story.holds("  the same hashes in the same order by `lochan log`", self.cli.hashes(reference) == hashes)
            story.holds("  and by pynessie", self.pynessie.hashes(reference) == hashes)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ready", required=True, help="the server's ready file")
    parser.add_argument("--s3", help="settings of the object store, when the ready file has none")
    parser.add_argument("--warehouse", default="", help="name of the warehouse (default: the server's default)")
    parser.add_argument("--cli", required=True, help="the program `lochan`")
    parser.add_argument("--pynessie", required=True, help="the program `nessie`")
    return parser.parse_args()


def main():
    chosen = arguments()
    with open(chosen.ready) as file:
        ready = json.load(file)
    s3 = ready.get("s3")
    if chosen.s3:
        with open(chosen.s3) as file:
            s3 = json.load(file)
    nessie = ready["nessie"]
    demo = Demo(
        Lake(ready["iceberg"], chosen.warehouse, s3),
        Cli(chosen.cli, nessie.rstrip("/").removesuffix("/api") + "/"),
        Pynessie(chosen.pynessie, nessie),
        Raw(nessie),
    )
    try:
        checks = demo.run()
    except Failed as failure:
        print(f"\n   WRONG {failure}\n\n{demo.story.checks} passed, 1 failed", file=sys.stderr)
        return 1
    print(f"\n{checks} passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
