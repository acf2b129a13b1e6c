#!/usr/bin/env bash
# Suites that need foreign programs. Each builds the server in the everyday profile and starts what it needs itself.
#
# usage: integration/run.sh NAME...
#
#   demo       the main job on real data (integration/demo.sh)
#   readme     every block of commands, settings or code in README.md and cli/README.md, done as it stands there
#   api-fuzz   requests generated from the server's own OpenAPI documents, with Schemathesis, from PyPI
#   fuzz [S]   the fuzz targets of tests/fuzz, S seconds each (60)
#   backup     backups to an S3-compatible server while commits go on: incremental, cut off, restored
#   pynessie   Nessie's Python command line, from PyPI
#   import     a repository of a real Nessie server, from Maven Central, taken in and compared (skipped where there is no
#              Maven or no Java 21)
#   oidc       tokens of a real OpenID Connect provider, from npm (skipped where there is no Node)
#   spark      Apache Spark over Iceberg REST, the native catalog and Nessie's SQL     (*)
#   trino      Trino over Iceberg REST and its Nessie catalog                          (*)
#   flink      Flink SQL, a streaming job with checkpoints among it, over both         (*)
#   dbt        models, seeds and tests through Trino on a branch, which is then merged (*)
#   airflow    a DAG that works on a branch                                            (*)
#   kits       further test kits, each against a server of its own where it asks for it (*)
#   KIT        one of them: nessie-golden, nessie-rest, nessie-java, pyiceberg, duckdb, field-cases
#
#   (*) not part of this repository: skipped, and said so, where their folder is absent
#
# The last lines are rows for the table of results in README.md.
#
# environment
#   LOCHAN_KITS    the folder of the kits
#   LOCHAN_FUZZ_CASES  requests of `api-fuzz` at least (2000; CI 20000)
#   LOCHAN_FUZZ_SEED   the seed of `api-fuzz`
#   LOCHAN_IMPORT_COMMITS  random commits of `import` beside the chosen ones (400)
#   LOCHAN_JAVA    the java of `import`, else a new enough one that the machine has
#   LOCHAN_BIN     folder of lochan-server and lochan; set, nothing is built. Else kits take a release build when there is
#                  one in the target folder, as their figures are about speed too
#   S3_SERVER      seaweedfs (default) or minio
#   LOCHAN_CACHE   what is installed once and kept (default ${XDG_CACHE_HOME:-~/.cache}/lochan)
#   LOCHAN_KEEP    set, the logs of a run that failed are kept
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
usage_if_asked "$@"
[ $# -gt 0 ] || fail "which suite? (see --help)"
LOCHAN_KITS="${LOCHAN_KITS:-$root/../shared/kits}"
for suite in "$root"/integration/suites/*.sh; do . "$suite"; done

# What the README calls a suite.
title_of() {
  case $1 in
    demo) echo "the main job on 336,776 flights" ;;
    readme) echo "the commands of README.md and cli/README.md" ;;
    api-fuzz) echo "requests made from our OpenAPI documents" ;;
    fuzz) echo "coverage-guided fuzzing, five targets" ;;
    backup) echo "backups to object storage while commits go on" ;;
    pynessie) echo "pynessie $PYNESSIE_VERSION" ;;
    import) echo "import from a real Nessie $NESSIE_VERSION" ;;
    oidc) echo "tokens of node-oidc-provider $OIDC_PROVIDER_VERSION" ;;
    spark) echo "Spark 3.5 (Iceberg REST, native, Nessie SQL)" ;;
    trino) echo "Trino 476 (Iceberg REST, Nessie catalog)" ;;
    flink) echo "Flink 1.20 (Iceberg REST, native)" ;;
    dbt) echo "dbt 1.10 with Trino, on a branch" ;;
    airflow) echo "Airflow 2.11, a branch per run" ;;
    nessie-golden) echo "recorded answers of Nessie 0.108.8" ;;
    nessie-rest) echo "Nessie REST tests, v1 and v2, none excepted" ;;
    nessie-java) echo "Apache Iceberg's NessieCatalog (Java), v1 and v2" ;;
    pyiceberg) echo "PyIceberg 0.12" ;;
    duckdb) echo "DuckDB 1.5.5 iceberg extension" ;;
    field-cases) echo "cases from public bug reports" ;;
  esac
}

# result NAME TEXT: a row for the README.
result() { printf '| `%s` | %s | %s |\n' "$1" "$(title_of "$1")" "$2" >>"$work/results.md"; }

# counts FILE: "N of M" from the last line of FILE that says "N passed[, N failed]".
counts() {
  local line passed failed
  line=$(grep -Eo '[0-9]+ passed(, [0-9]+ failed)?' "$1" | tail -n 1) || return 1
  passed=${line%% *} failed=0
  case $line in *failed) failed=${line#*, } failed=${failed%% *} ;; esac
  echo "$passed of $((passed + failed))"
}

suites="$*"
new_work
failed=() kits=()
while [ $# -gt 0 ]; do
  name=$1
  shift
  case $name in
    demo) "$root/integration/demo.sh" && result demo "every figure as it must be" || failed+=("$name") ;;
    readme) build_binaries && run_readme || failed+=("$name") ;;
    backup) build_binaries && run_backup || failed+=("$name") ;;
    pynessie) build_binaries && run_pynessie || failed+=("$name") ;;
    import) build_binaries && run_import || failed+=("$name") ;;
    oidc) build_binaries && run_oidc || failed+=("$name") ;;
    api-fuzz) build_binaries && run_api_fuzz || failed+=("$name") ;;
    fuzz)
      seconds=60
      if [[ ${1:-} =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
      run_fuzz "$seconds" || failed+=("$name")
      ;;
    spark | trino | flink | dbt | airflow) kit_binaries && run_engine "$name" || failed+=("$name") ;;
    kits) kits+=("${ALL_KITS[@]}") ;;
    *)
      [[ " ${ALL_KITS[*]} " == *" $name "* ]] || fail "unknown suite '$name' (see --help)"
      kits+=("$name")
      ;;
  esac
done
if [ ${#kits[@]} -gt 0 ]; then
  kit_binaries && run_kits "${kits[@]}" || failed+=(kits)
fi
if [ -s "$work/results.md" ]; then
  say "rows for the table of results in README.md"
  printf '| `integration/run.sh …` | what it is | result |\n| --- | --- | --- |\n'
  cat "$work/results.md"
fi
[ ${#failed[@]} = 0 ] || fail "failed: ${failed[*]}"
say "passed: $suites"
