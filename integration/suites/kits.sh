# Test kits and engines that are not part of this repository.

ALL_KITS=(nessie-golden nessie-rest nessie-java pyiceberg duckdb field-cases)

# s3_for_kits: starts the object store once for all suites of this run.
s3_for_kits() {
  [ -s "$work/s3.json" ] || { say "starting ${S3_SERVER:-seaweedfs}"; start_s3; }
  s3_endpoint=$(json "$work/s3.json" endpoint) s3_key=$(json "$work/s3.json" access_key)
  s3_secret=$(json "$work/s3.json" secret_key) s3_region=$(json "$work/s3.json" region)
}

# run_engine NAME: its smoke test, which asserts every row it reads, over each catalog that it has.
run_engine() {
  local name=$1 smoke="$LOCHAN_KITS/../engines/$1/smoke.sh" nessie
  if [ ! -x "$smoke" ]; then say "$name: skipped, its folder is not there"; return 0; fi
  s3_for_kits
  start_server "$name"
  nessie=$(json "$work/$name.json" nessie)
  say "running $name (the first time downloads up to 840 MB)"
  NESSIE_URI="${nessie%/}/v2" ICEBERG_URI=$(json "$work/$name.json" iceberg) S3_ENDPOINT=$s3_endpoint S3_KEY=$s3_key \
    S3_SECRET=$s3_secret S3_REGION=$s3_region BUCKET=$(json "$work/s3.json" bucket) HISTORY=full \
    "$smoke" | tee "$work/$name.out" || { tail -n 20 "$work/$name.log" >&2; return 1; }
  stop "$name"
  result "$name" "$(counts "$work/$name.out")"
}

# The bar of each kit: at least so many checks pass, and each of the named ones.
bar_of() {
  case $1 in
    nessie-golden) echo 4272 ;; # of 4,274 answers; the other two contradict others of the kit
    nessie-rest) echo 298 ;;    # all, none excepted
    nessie-java) echo 46 ;;     # all
    pyiceberg) echo 62 ;;       # every standard case
    duckdb) echo 15 ;;          # all
    field-cases) echo 277 ;;    # all
  esac
}

# kit NAME SERVER: runs it against the server that SERVER.json tells of; output in $work/NAME.out.
kit() {
  local name=$1 nessie iceberg root_url
  nessie=$(json "$work/$2.json" nessie) iceberg=$(json "$work/$2.json" iceberg)
  root_url="${nessie%/}" && root_url="${root_url%/api}/"
  case $name in
    nessie-golden) python3 "$LOCHAN_KITS/nessie-golden/compare.py" "${root_url%/}" "$LOCHAN_KITS/nessie-golden/golden" ;;
    nessie-rest) "$LOCHAN_KITS/nessie-rest/run.sh" --strict "$root_url" ;;
    nessie-java) "$LOCHAN_KITS/nessie-java/run.sh" "$root_url" ;;
    pyiceberg)
      "$LOCHAN_KITS/pyiceberg/run.sh" "$iceberg" --warehouse lake --only standard --out "$work/pyiceberg-report" \
        -P "s3.endpoint=$s3_endpoint" -P "s3.access-key-id=$s3_key" -P "s3.secret-access-key=$s3_secret" -P "s3.region=$s3_region" ;;
    duckdb)
      KIT_S3_KEY=$s3_key KIT_S3_SECRET=$s3_secret \
        "$LOCHAN_KITS/duckdb/run.sh" "$iceberg" --warehouse lake --s3 "${s3_endpoint#http://}" ;;
    field-cases)
      FIELD_S3_ACCESS_KEY=$s3_key FIELD_S3_SECRET_KEY=$s3_secret FIELD_S3_REGION=$s3_region FIELD_SECOND_WAREHOUSE=second \
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
    # These begin with an empty server that nobody else uses; the field cases read histories in one page.
    case $name in nessie-golden | nessie-rest | field-cases) server="lochan-$name" ;; esac
    alive "$server" || start_server "$server"
    say "running kit $name"
    began=$SECONDS
    kit "$name" "$server"
    seconds=$((SECONDS - began))
    case $name in nessie-golden | nessie-rest | field-cases) stop "$server" ;; esac
    line=$(grep -Eo '[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?' "$work/$name.out" | tail -n 1 || true)
    passed=${line%% *} bar=$(bar_of "$name") verdict=ok
    if [ "${passed:-0}" -lt "$bar" ]; then verdict=BELOW below=1; fi
    # Cases in which other servers lose data: none of them may fail.
    if [ "$name" = field-cases ] && grep -Eq '^(FAILED|ERROR) .*_C(14|48|49)_' "$work/$name.out"; then verdict='LOSES DATA' below=1; fi
    if [ "$name" = pyiceberg ] && ! [[ $line == *' 0 failed'* ]]; then verdict=BELOW below=1; fi
    table+="$name|${line:-no result}|at least $bar|$verdict|$seconds s"$'\n'
    [ -z "$line" ] || result "$name" "$(counts "$work/$name.out")"
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
