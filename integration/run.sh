#!/usr/bin/env bash
# Suites that need foreign engines. Each builds the server in the everyday profile and starts what it needs itself.
#
# usage: integration/run.sh NAME...
#
#   demo       the main job on real data (integration/demo.sh)
#   api-fuzz   requests generated from the server's own OpenAPI documents, with Schemathesis, from PyPI
#   fuzz [S]   the fuzz targets of tests/fuzz, S seconds each (60); skipped, and said so, without a nightly compiler and
#              cargo-fuzz
#   pynessie   Nessie's Python command line, from PyPI
#   oidc       tokens of a real OpenID Connect provider, from npm (skipped where there is no Node)
#   spark      Apache Spark over Iceberg REST, the native catalog and Nessie's SQL     (*)
#   kits       further test kits, each against a server of its own where it asks for it (*)
#   KIT        one of them: nessie-golden, nessie-rest, nessie-java, pyiceberg, duckdb, field-cases
#
#   (*) not part of this repository: skipped, and said so, where their folder is absent
#
# environment
#   LOCHAN_KITS    the folder of the kits
#   LOCHAN_FUZZ_CASES  requests of `api-fuzz` at least (2000; CI 20000)
#   LOCHAN_FUZZ_SEED   the seed of `api-fuzz`
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
ALL_KITS=(nessie-golden nessie-rest nessie-java pyiceberg duckdb field-cases)

run_pynessie() {
  local env
  env=$(python_env pynessie) || return 1
  say "starting lochan-server with a file warehouse"
  spawn pynessie "$server_bin" serve --data-dir "$work/pynessie" --listen 127.0.0.1:0 --management-listen 127.0.0.1:0 \
    --warehouse "lake=file://$work/warehouse" --ready-file "$work/pynessie.json"
  wait_for_file pynessie "$work/pynessie.json"
  say "running the command line of pynessie against it"
  LOCHAN_NESSIE=$(json "$work/pynessie.json" nessie) "$env/bin/python" -m pytest -q -p no:cacheprovider -W ignore --tb=short \
    "$root/integration/pynessie" || { tail -n 20 "$work/pynessie.log" >&2; return 1; }
  stop pynessie
}

OIDC_PROVIDER_VERSION=9.13.3

install_oidc_provider() {
  [ ! -e "$1/.complete" ] || return 0
  mkdir -p "$1" && echo '{"private":true,"type":"module"}' >"$1/package.json" || return 1
  (cd "$1" && npm install --no-audit --no-fund --silent "oidc-provider@$OIDC_PROVIDER_VERSION") >&2 || return 1
  touch "$1/.complete"
}

run_oidc() {
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then say "oidc: skipped, there is no Node"; return 0; fi
  local folder="$LOCHAN_CACHE/oidc-provider-$OIDC_PROVIDER_VERSION" port issuer nessie
  if ! locked "$folder.lock" install_oidc_provider "$folder"; then say "oidc: skipped, npm has no oidc-provider here"; return 0; fi
  port=$(free_ports 1) issuer="http://127.0.0.1:$port"
  spawn provider node "$root/integration/oidc/provider.mjs" "$folder" "$port"
  wait_for_file provider "$work/provider.log"
  cat >"$work/oidc.toml" <<TOML
[auth.oidc]
issuer = "$issuer"
audience = "lochan"
principal_claim = "preferred_username"
roles_claim = "realm.roles"
clock_skew_seconds = 2
[authz.rules]
writers = "'writers' in roles"
others = "op in ['VIEW_REFERENCE', 'READ_ENTRIES', 'READ_CONTENT_KEY', 'READ_ENTITY_VALUE', 'LIST_COMMIT_LOG']"
TOML
  spawn oidc "$server_bin" serve --config "$work/oidc.toml" --data-dir "$work/oidc" --listen 127.0.0.1:0 \
    --management-listen 127.0.0.1:0 --ready-file "$work/oidc.json"
  wait_for_file oidc "$work/oidc.json"
  nessie=$(json "$work/oidc.json" nessie)
  python3 "$root/integration/oidc/check.py" "${nessie%/api/}" "$issuer" || { tail -n 20 "$work/oidc.log" >&2; return 1; }
  stop oidc && stop provider
}

# run_api_fuzz: every answer fits the documents, and none is a 5xx that nobody planned.
run_api_fuzz() {
  local env url
  env=$(python_env api-fuzz) || return 1
  say "starting lochan-server with a file warehouse"
  spawn api-fuzz "$server_bin" serve --data-dir "$work/api-fuzz" --listen 127.0.0.1:0 --management-listen 127.0.0.1:0 \
    --warehouse "lake=file://$work/warehouse" --ready-file "$work/api-fuzz.json"
  wait_for_file api-fuzz "$work/api-fuzz.json"
  url=$(json "$work/api-fuzz.json" nessie)
  say "generating requests from its documents"
  "$env/bin/python" "$root/integration/api-fuzz/run.py" "${url%/api*}" "$work/api-fuzz-reports" \
    "${LOCHAN_FUZZ_CASES:-2000}" || { tail -n 20 "$work/api-fuzz.log" >&2; return 1; }
  stop api-fuzz
}

# run_fuzz SECONDS: each target for so long. An input may take 5 s and the whole target 512 MB.
run_fuzz() {
  local seconds=$1 target corpus
  if ! cargo +nightly --version >/dev/null 2>&1 || ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    say "fuzz: skipped, it needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz)"
    return 0
  fi
  # The versions that everything else is built with.
  cp "$root/Cargo.lock" "$root/tests/fuzz/Cargo.lock"
  for target in reference key json token filter; do
    corpus="$work/corpus-$target"
    mkdir -p "$corpus"
    say "fuzzing $target for $seconds s"
    (cd "$root/tests/fuzz" && cargo +nightly fuzz run --fuzz-dir . --sanitizer none "$target" "$corpus" "corpus/$target" -- \
      -max_total_time="$seconds" -timeout=5 -rss_limit_mb=512 -max_len=16384 -print_final_stats=1 \
      -artifact_prefix="$work/") >"$work/fuzz-$target.log" 2>&1 || { tail -n 40 "$work/fuzz-$target.log" >&2; return 1; }
    grep -E 'number_of_executed_units|peak_rss_mb|slowest_unit' "$work/fuzz-$target.log" || true
  done
}

# s3_for_kits: starts the object store once for all suites of this run.
s3_for_kits() {
  [ -s "$work/s3.json" ] || { say "starting ${S3_SERVER:-seaweedfs}"; start_s3; }
  s3_endpoint=$(json "$work/s3.json" endpoint) s3_key=$(json "$work/s3.json" access_key)
  s3_secret=$(json "$work/s3.json" secret_key) s3_region=$(json "$work/s3.json" region)
}

run_spark() {
  local smoke="$LOCHAN_KITS/../engines/spark/smoke.sh" nessie
  if [ ! -x "$smoke" ]; then say "spark: skipped, its folder is not there"; return 0; fi
  s3_for_kits
  start_server spark
  nessie=$(json "$work/spark.json" nessie)
  say "running Spark (the first time downloads about 430 MB)"
  NESSIE_URI="${nessie%/}/v2" ICEBERG_URI=$(json "$work/spark.json" iceberg) S3_ENDPOINT=$s3_endpoint S3_KEY=$s3_key \
    S3_SECRET=$s3_secret S3_REGION=$s3_region BUCKET=$(json "$work/s3.json" bucket) HISTORY=full \
    "$smoke" all || { tail -n 20 "$work/spark.log" >&2; return 1; }
  stop spark
}

# The bar of each kit: at least so many checks pass, and each of the named ones.
bar_of() {
  case $1 in
    nessie-golden) echo 3420 ;; # of 4,274 answers: 80 %
    nessie-rest) echo 223 ;;    # of 297: 75 %
    nessie-java) echo 46 ;;     # all
    pyiceberg) echo 62 ;;       # every standard case
    duckdb) echo 15 ;;          # all
    field-cases) echo 210 ;;    # as many as the real server
  esac
}

# kit NAME SERVER: runs it against the server that SERVER.json tells of; output in $work/NAME.out.
kit() {
  local name=$1 nessie iceberg root_url
  nessie=$(json "$work/$2.json" nessie) iceberg=$(json "$work/$2.json" iceberg)
  root_url="${nessie%/}" && root_url="${root_url%/api}/"
  case $name in
    nessie-golden) python3 "$LOCHAN_KITS/nessie-golden/compare.py" "${root_url%/}" "$LOCHAN_KITS/nessie-golden/golden" ;;
    nessie-rest) "$LOCHAN_KITS/nessie-rest/run.sh" "$root_url" ;;
    nessie-java) "$LOCHAN_KITS/nessie-java/run.sh" "$root_url" ;;
    pyiceberg)
      "$LOCHAN_KITS/pyiceberg/run.sh" "$iceberg" --warehouse lake --only standard --out "$work/pyiceberg-report" \
        -P "s3.endpoint=$s3_endpoint" -P "s3.access-key-id=$s3_key" -P "s3.secret-access-key=$s3_secret" -P "s3.region=$s3_region" ;;
    duckdb)
      KIT_S3_KEY=$s3_key KIT_S3_SECRET=$s3_secret \
        "$LOCHAN_KITS/duckdb/run.sh" "$iceberg" --warehouse lake --s3 "${s3_endpoint#http://}" ;;
    field-cases)
      FIELD_S3_ACCESS_KEY=$s3_key FIELD_S3_SECRET_KEY=$s3_secret FIELD_S3_REGION=$s3_region \
        "$LOCHAN_KITS/field-cases/run.sh" "$root_url" ;;
  esac >"$work/$name.out" 2>&1 || true # the last line tells; its bar decides
}

# run_kits NAME...: prints one table; fails when a kit stays below its bar.
run_kits() {
  local name line passed bar verdict began seconds server below=0 table=''
  if [ ! -d "$LOCHAN_KITS" ]; then say "kits: skipped ($*), their folder is not there"; return 0; fi
  s3_for_kits
  for name in "$@"; do
    if [ ! -d "$LOCHAN_KITS/$name" ]; then table+="$name|skipped|not there||"$'\n'; continue; fi
    server=lochan-kits
    # These two begin with an empty server that nobody else uses.
    case $name in nessie-golden | nessie-rest) server="lochan-$name" ;; esac
    alive "$server" || start_server "$server"
    say "running kit $name"
    began=$SECONDS
    kit "$name" "$server"
    seconds=$((SECONDS - began))
    case $name in nessie-golden | nessie-rest) stop "$server" ;; esac
    line=$(grep -Eo '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?' "$work/$name.out" | tail -n 1 || true)
    passed=${line%% *} bar=$(bar_of "$name") verdict=ok
    if [ "${passed:-0}" -lt "$bar" ]; then verdict=BELOW below=1; fi
    # Cases in which other servers lose data: none of them may fail.
    if [ "$name" = field-cases ] && grep -Eq '^(FAILED|ERROR) .*_C(14|48|49)_' "$work/$name.out"; then verdict='LOSES DATA' below=1; fi
    if [ "$name" = pyiceberg ] && ! [[ $line == *' 0 failed'* ]]; then verdict=BELOW below=1; fi
    table+="$name|${line:-no result}|at least $bar|$verdict|$seconds s"$'\n'
    if [ -n "${LOCHAN_KEEP:-}" ]; then say "output: $work/$name.out"; fi
    [ "$verdict" = ok ] || tail -n "${LOCHAN_KIT_LINES:-30}" "$work/$name.out"
  done
  echo
  printf '%s' "$table" | python3 -c '
import sys
rows = [["kit", "result", "bar", "", "time"], *(line.rstrip("\n").split("|") for line in sys.stdin)]
widths = [max(len(row[i]) for row in rows) for i in range(5)]
for row in rows: print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())'
  return $below
}

# kit_binaries: the release build when there is one.
kit_binaries() {
  local release="${CARGO_TARGET_DIR:-$root/target}/release"
  if [ -z "${LOCHAN_BIN:-}" ] && [ -x "$release/lochan-server" ]; then
    server_bin="$release/lochan-server"
    say "taking the release build of $(date -r "$server_bin" '+%F %T')"
  else
    build_binaries
  fi
}

suites="$*"
new_work
failed=() kits=()
while [ $# -gt 0 ]; do
  name=$1
  shift
  case $name in
    demo) "$root/integration/demo.sh" || failed+=("$name") ;;
    pynessie) build_binaries && run_pynessie || failed+=("$name") ;;
    oidc) build_binaries && run_oidc || failed+=("$name") ;;
    api-fuzz) build_binaries && run_api_fuzz || failed+=("$name") ;;
    fuzz)
      seconds=60
      if [[ ${1:-} =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
      run_fuzz "$seconds" || failed+=("$name")
      ;;
    spark) kit_binaries && run_spark || failed+=("$name") ;;
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
[ ${#failed[@]} = 0 ] || fail "failed: ${failed[*]}"
say "passed: $suites"
