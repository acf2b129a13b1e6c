# A repository of a real Nessie server, taken in.

NESSIE_VERSION=0.108.8
NESSIE_JAVA_MIN=21

# java_for_nessie: a java that is new enough, on stdout.
java_for_nessie() {
  local java version
  for java in ${LOCHAN_JAVA:-} ${JAVA_HOME:+"$JAVA_HOME/bin/java"} "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
    [ -x "$java" ] || continue
    version=$("$java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p')
    if [ "${version%%.*}" -ge "$NESSIE_JAVA_MIN" ] 2>/dev/null; then echo "$java"; return 0; fi
  done
  return 1
}

install_nessie() {
  [ ! -s "$1" ] || return 0
  say "fetching the Nessie server (275 MB, once) into $(dirname "$1")"
  mvn -B -q dependency:copy -Dartifact="org.projectnessie.nessie:nessie-quarkus:$NESSIE_VERSION:jar:runner" \
    -DoutputDirectory="$(dirname "$1")" -Dmdep.useBaseVersion=true >&2 || return 1
}

run_import() {
  local java jar="$LOCHAN_CACHE/nessie/nessie-quarkus-$NESSIE_VERSION-runner.jar" port management nessie lochan end
  if ! java=$(java_for_nessie); then say "import: skipped, there is no Java $NESSIE_JAVA_MIN"; return 0; fi
  if ! command -v mvn >/dev/null 2>&1; then say "import: skipped, there is no Maven"; return 0; fi
  if ! locked "$LOCHAN_CACHE/nessie.lock" install_nessie "$jar"; then say "import: skipped, Maven has no Nessie server here"; return 0; fi
  read -r port management < <(free_ports 2)
  say "starting Nessie $NESSIE_VERSION"
  spawn nessie "$java" -Xmx1g -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port="$port" \
    -Dquarkus.management.host=127.0.0.1 -Dquarkus.management.port="$management" -Dquarkus.otel.sdk.disabled=true \
    -Dquarkus.log.level=WARN -Dnessie.version.store.type=IN_MEMORY -jar "$jar"
  spawn import "$server_bin" serve --data-dir "$work/import" --listen 127.0.0.1:0 --management-listen 127.0.0.1:0 \
    --ready-file "$work/import.json"
  wait_for_file import "$work/import.json"
  nessie="http://127.0.0.1:$port" lochan=$(json "$work/import.json" nessie)
  end=$((SECONDS + START_SECONDS_MAX))
  until python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "$nessie/api/v2/config" 2>/dev/null; do
    alive nessie || { tail -n 20 "$work/nessie.log" >&2; return 1; }
    [ $SECONDS -lt $end ] || { say "Nessie was not ready within $START_SECONDS_MAX s"; return 1; }
    sleep 0.2
  done
  say "filling it"
  python3 "$root/integration/import/fill.py" "$nessie" "${LOCHAN_IMPORT_COMMITS:-400}" || return 1
  say "taking it in"
  PYTHONPATH="$root/integration" python3 "$root/integration/import/check.py" "$nessie" "${lochan%/api/}" "$cli_bin" "$work" | tee "$work/import.out" || {
    tail -n 20 "$work/import.log" >&2
    return 1
  }
  stop import && stop nessie
  result import "$(counts "$work/import.out")"
}
