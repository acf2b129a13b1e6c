"""Does what the pages for users say: every block of commands, settings or code in them is run, or is named below as one
that is not. A block that nobody has thought of is a failure.

usage: run.py SERVER CLI FOLDER
"""

import contextlib
import glob
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "cli/README.md"]
COMMAND_SECONDS_MAX = 120
# Blocks that are run elsewhere, or by nobody: why.
ELSEWHERE = {
    "README.md: Lochan (sh)": "steps of .ci/run",
    "README.md: Spark (properties)": "integration/run.sh spark sets the same, as one file would",
    "README.md: Trino (properties)": "not run here: no Trino",
    "README.md: Flink (sql)": "not run here: no Flink",
}
passed = 0


def main(server, cli, folder):
    world = World(server, cli, pathlib.Path(folder))
    blocks = {name: text for page in PAGES for name, text in blocks_of(page)}
    unknown = sorted(blocks.keys() - ELSEWHERE.keys() - HANDLERS.keys())
    gone = sorted((ELSEWHERE.keys() | HANDLERS.keys()) - blocks.keys())
    if unknown or gone:
        sys.exit(f"FAILED: blocks that nobody runs: {unknown}; blocks that are gone: {gone}")
    steps = (ROOT / ".ci/run").read_text()
    for line in commands(blocks["README.md: Lochan (sh)"]):
        check(f"{line} is a step of .ci/run", line in steps)
    with contextlib.closing(world):
        for name, handler in HANDLERS.items():
            handler(world, blocks[name])
            check(name, True)
    for name, why in ELSEWHERE.items():
        print(f"not run: {name}: {why}")
    print(f"{passed} passed, 0 failed, {len(ELSEWHERE)} skipped")


def check(what, right, seen=""):
    global passed
    if not right:
        sys.exit(f"FAILED: {what}: {seen}")
    passed += 1
    print(f"ok: {what}", flush=True)


def blocks_of(page):
    """The fenced blocks of a page, each named by page, the heading or bold word before it, and language."""
    heading, language, lines = "", None, []
    for line in (ROOT / page).read_text().splitlines():
        if language is not None and line == "```":
            yield f"{page}: {heading} ({language})", "\n".join(lines)
            language, lines = None, []
        elif language is not None:
            lines.append(line)
        elif line.startswith("```"):
            language = line[3:]
        elif found := re.match(r"#+ (.*)|\*\*([^*]*)\*\*", line):
            heading = found[1] or found[2]


def commands(text):
    """The command lines of a block, without what is said about them."""
    lines = [re.sub(r"\s{2,}#.*|^#.*", "", line) for line in text.splitlines()]
    return [line for line in lines if line]


class World:
    """A folder as a user has it after a build, and the servers started in it."""

    def __init__(self, server, cli, folder):
        self.folder, self.running = folder, []
        (folder / "target/release").mkdir(parents=True)
        for program in (server, cli):
            (folder / "target/release" / pathlib.Path(program).name).symlink_to(program)
        self.environment = {
            "PATH": f"{folder}/target/release:{os.environ['PATH']}", "HOME": str(folder), "NO_COLOR": "1",
            # Ports that are free, instead of the ones of the pages.
            "LOCHAN__SERVER__LISTEN": "127.0.0.1:0", "LOCHAN__SERVER__MANAGEMENT_LISTEN": "127.0.0.1:0",
            "LOCHAN__DEV__S3_LISTEN": "127.0.0.1:0",
        }
        self.told = {}

    def run(self, line, **more):
        """Runs a command line, which must succeed; what it said."""
        ran = subprocess.run(["bash", "-c", line], cwd=self.folder, env={**self.environment, **more}, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_SECONDS_MAX)
        if ran.returncode:
            sys.exit(f"FAILED: {line}: ended with {ran.returncode}: {ran.stdout}{ran.stderr}")
        return ran.stdout

    def start(self, line, **more):
        """Starts a server; what its ready file tells."""
        ready = self.folder / "ready.json"
        ready.unlink(missing_ok=True)
        log = open(self.folder / "server.log", "w")
        process = subprocess.Popen(["bash", "-c", f"exec {line} --ready-file {ready}"], cwd=self.folder,
                                   env={**self.environment, **more}, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.running.append(process)
        end = time.monotonic() + COMMAND_SECONDS_MAX
        while not ready.exists():
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"FAILED: {line}: {(self.folder / 'server.log').read_text()}")
            time.sleep(0.05)
        return json.loads(ready.read_text())

    def stop(self):
        process = self.running.pop()
        process.send_signal(signal.SIGTERM)
        check("a server ends when it is told to", process.wait(COMMAND_SECONDS_MAX) == 0, process.returncode)

    def close(self):
        for process in self.running:
            process.kill()

    def here(self, text):
        """A text of the pages with the addresses and keys of the servers that run here."""
        s3 = self.told["s3"]
        for there, here in {
            "http://127.0.0.1:19120": self.told["nessie"].removesuffix("/api/"), "http://127.0.0.1:9000": s3["endpoint"],
            "127.0.0.1:9000": s3["endpoint"].removeprefix("http://"),
            "'KEY'": f"'{s3['access_key']}'", "'SECRET'": f"'{s3['secret_key']}'",
            '"lake"': '"warehouse"', "'lake'": "'warehouse'",
            '"KEY"': f'"{s3["access_key"]}"', '"SECRET"': f'"{s3["secret_key"]}"',
        }.items():
            text = text.replace(there, here)
        return text

    def put(self, branch, number, key="nyc.flights"):
        self.run(f"lochan content commit -r {branch} --put {key} --table-metadata s3://lake/{number}.json "
                 f"--snapshot-id {number}")

    def head(self, point):
        return json.loads(self.run(f"lochan log {point} -n 1 --json"))["logEntries"][0]["commitMeta"]["hash"]


def first_run(world, text):
    """Each way to start the server; the last one stays, for all that follows."""
    build, *servers = commands(text)
    check("it is built as the page says", build == "cargo build --release", build)
    for line in servers:
        if world.running:
            world.stop()
        world.told = world.start(line)
    world.environment["LOCHAN_ENDPOINT"] = world.told["nessie"].removesuffix("api/")
    world.run("lochan content commit --put nyc --namespace")
    for number in range(1, 6):
        world.put("main", number)
    world.run("lochan branch dev-feature-x main")


def settings(world, text):
    (world.folder / "secret").write_text("hush")
    (world.folder / "lochan.toml").write_text(re.sub(r'"/run/secrets/\w+"', f'"{world.folder}/secret"', text))
    said = world.run("lochan-server config --config lochan.toml")
    check("secrets are masked", "hush" not in said, said)
    return said


def own_store(world, text):
    check("the warehouse is read", "s3://bucket/prefix" in settings(world, text))


def pyiceberg(world, text):
    names = {}
    exec(world.here(text), names)
    check("PyIceberg sees the branch", names["dev"].list_namespaces() == [("nyc",)])


def duckdb(world, text):
    import duckdb

    session = duckdb.connect(config={"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"})
    for name in ("avro", "httpfs", "iceberg"):
        (path,) = glob.glob(f"{sysconfig.get_paths()['purelib']}/duckdb_extension_{name}/extensions/*/{name}.duckdb_extension")
        session.execute(f"LOAD '{path}'")
    session.execute(world.here(text))
    schemas = session.execute("SELECT schema_name FROM duckdb_schemas() WHERE database_name = 'lake_dev'").fetchall()
    check("DuckDB sees the branch", ("nyc",) in schemas, schemas)


def command_line(world, text):
    lines = commands(world.here(text))
    world.run("lochan branch delete dev-feature-x")
    for line in lines:
        world.run(line.replace("HASH", world.head("main~1")))
        if line == "lochan branch dev-feature-x main":
            world.put("dev-feature-x", 6, "nyc.trips")
        if line.startswith("lochan reset"):
            world.put("dev-feature-x", 7, "nyc.trips")
    check(f"{len(lines)} commands", True)


def completion(world, text):
    """The folders are those of a person who has these shells; the script of bash is used."""
    world.run("mkdir -p .local/share/bash-completion/completions .config/fish/completions functions")
    for line in commands(text):
        world.run(f"fpath=(- functions); {line}")
    ask = "COMP_LINE='lochan log '; COMP_POINT=11; COMP_WORDS=(lochan log ''); COMP_CWORD=2; _lochan; echo ${COMPREPLY[@]}"
    offered = world.run(f"source .local/share/bash-completion/completions/lochan; {ask}")
    check("bash completes a branch", "main" in offered.split(), offered)


def needs_lochan(world, text):
    world.run("lochan branch dev main")
    for number in range(10, 20):
        world.put("dev", number)
    (world.folder / "repository.ndjson").unlink(missing_ok=True)
    other = {}
    for line in commands(text):
        if " import " in line and not other:
            # Another server, and an empty one.
            other["LOCHAN_ENDPOINT"] = world.start("lochan-server --data-dir other")["nessie"].removesuffix("api/")
        more = other if " import " in line else {}
        world.run(line.replace("http://nessie:19120", world.environment["LOCHAN_ENDPOINT"]), **more)
    world.stop()


def shell(world, text):
    (world.folder / "nightly.sql").write_text("USE BRANCH dev;\nSHOW LOG LIMIT 1;\n")
    for line in commands(text):
        check(line, "Put nyc.flights" in world.run(line))


def backup(world, text):
    """In a folder in the place of a bucket; the last two commands are for a store that nobody serves."""
    for line in commands(text.replace("s3://backups/lochan", "./backups")):
        if " fsck " in line:
            world.stop()
        world.run(line)


def permissions(world, text):
    said = settings(world, text)
    check("rules are read", "analysts_gold" in said, said)


HANDLERS = {
    "README.md: First run (sh)": first_run,
    "README.md: First run (toml)": own_store,
    "README.md: PyIceberg (python)": pyiceberg,
    "README.md: DuckDB (sql)": duckdb,
    "README.md: The command line (sh)": command_line,
    "cli/README.md: Completion (sh)": completion,
    "cli/README.md: Commands that need Lochan (sh)": needs_lochan,
    "cli/README.md: The shell (sh)": shell,
    "README.md: Backup and repair (sh)": backup,
    "README.md: Who may do what (toml)": permissions,
}

if __name__ == "__main__":
    main(*sys.argv[1:4])
