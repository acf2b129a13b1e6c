# Shared by the scripts of this folder and of .ci; source it, do not run it. Its functions also run where `set -e` has no
# effect (in a condition), so each tells of its failure itself.
#
#   LOCHAN_CACHE   what is installed once and kept (default ${XDG_CACHE_HOME:-~/.cache}/lochan)
#   LOCHAN_BIN     folder of lochan-server and lochan; set, nothing is built

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LOCHAN_CACHE="${LOCHAN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lochan}"
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1

START_SECONDS_MAX="${START_SECONDS_MAX:-90}" # a server that is not ready by then has failed
STOP_SECONDS_MAX=20                          # a server that ignores TERM so long is killed

say() { printf '%s\n' "==> $*"; }
fail() { printf '%s\n' "error: $*" >&2; exit 1; }
need() { command -v "$1" >/dev/null 2>&1 || fail "'$1' is needed${2:+: $2}"; }

# usage_if_asked "$@": prints the comment at the top of the calling script on -h or --help.
usage_if_asked() {
  case "${1:-}" in
    -h | --help) sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$0"; exit 0 ;;
  esac
}

# locked FILE COMMAND...: runs it while no other run holds FILE, so that two runs never install the same thing at once.
locked() {
  local file=$1; shift
  mkdir -p "$(dirname "$file")"
  if command -v flock >/dev/null 2>&1; then (flock 9; "$@") 9>"$file"; else "$@"; fi
}

make_python_env() {
  local list=$1 dir=$2
  [ ! -e "$dir/.complete" ] || return 0
  say "installing $(basename "$list" .txt) (Python packages, once) into $dir" >&2
  rm -rf "$dir"
  python3 -m venv "$dir" || fail "python3 -m venv does not work (Debian: apt-get install python3-venv)"
  "$dir/bin/pip" install -q -r "$list" >&2 || fail "the packages of $list could not be installed"
  touch "$dir/.complete"
}

# python_env NAME: a virtual environment with the packages of requirements/NAME.txt; its folder on stdout.
python_env() {
  need python3
  local list="$root/integration/requirements/$1.txt" dir
  dir="$LOCHAN_CACHE/python-$1-$(cksum <"$list" | cut -d' ' -f1)"
  locked "$LOCHAN_CACHE/python-$1.lock" make_python_env "$list" "$dir" || return 1
  echo "$dir"
}

# build_binaries: builds server and CLI in the everyday profile; sets server_bin and cli_bin.
build_binaries() {
  if [ -n "${LOCHAN_BIN:-}" ]; then
    say "using the binaries in $LOCHAN_BIN"
    server_bin="$LOCHAN_BIN/lochan-server" cli_bin="$LOCHAN_BIN/lochan"
  else
    need cargo "https://rustup.rs installs Rust"
    say "building lochan-server and lochan (the first time takes some minutes)"
    (cd "$root" && cargo build --quiet --workspace --bins) || fail "the build failed"
    local target="${CARGO_TARGET_DIR:-$root/target}"
    server_bin="$target/debug/lochan-server" cli_bin="$target/debug/lochan"
  fi
  [ -x "$server_bin" ] && [ -x "$cli_bin" ] || fail "no lochan-server and lochan in $(dirname "$server_bin")"
}

# new_work: a temporary folder in $work that is removed at the end, together with every process that `spawn` started.
leftovers=() # further files to remove at the end
new_work() {
  work=$(mktemp -d "${TMPDIR:-/tmp}/lochan-XXXXXX")
  spawned=()
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
}

clean_up() {
  local code=$? name
  trap - EXIT INT TERM
  for name in "${spawned[@]+"${spawned[@]}"}"; do stop "$name"; done
  [ ${#leftovers[@]} = 0 ] || rm -f -- "${leftovers[@]}"
  if [ "$code" != 0 ] && [ -n "${LOCHAN_KEEP:-}" ]; then echo "logs are kept in $work" >&2; else rm -rf "$work"; fi
  exit "$code"
}

# spawn NAME COMMAND...: starts it in the background; log in $work/NAME.log, its id in $work/NAME.pid.
spawn() {
  local name=$1; shift
  "$@" >"$work/$name.log" 2>&1 </dev/null &
  echo $! >"$work/$name.pid"
  spawned=("$name" "${spawned[@]+"${spawned[@]}"}")
}

alive() { [ -e "$work/$1.pid" ] && kill -0 "$(cat "$work/$1.pid")" 2>/dev/null; }

# stop NAME: asks it to end and kills it when it does not; only ever by its own process id.
stop() {
  local pid waited=0
  alive "$1" || return 0
  pid=$(cat "$work/$1.pid")
  kill -TERM "$pid" 2>/dev/null || true
  while alive "$1" && [ "$waited" -lt $((STOP_SECONDS_MAX * 20)) ]; do sleep 0.05; waited=$((waited + 1)); done
  kill -KILL "$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
  rm -f "$work/$1.pid"
}

# wait_for_file NAME FILE: until the process NAME has written FILE; fails at once when the process has ended.
wait_for_file() {
  local end=$((SECONDS + START_SECONDS_MAX))
  until [ -s "$2" ]; do
    alive "$1" || { tail -n 20 "$work/$1.log" >&2; fail "$1 ended while it was starting"; }
    [ $SECONDS -lt $end ] || { tail -n 20 "$work/$1.log" >&2; fail "$1 was not ready within $START_SECONDS_MAX s"; }
    sleep 0.05
  done
}

# json FILE KEY...: a value of a JSON document.
json() {
  python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2:]: value = value[key]
print(value)' "$@"
}

# free_ports N: N distinct ports on which nothing listens just now.
free_ports() {
  python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

# start_s3: an S3-compatible server that is not ours; its settings in $work/s3.json.
start_s3() {
  spawn s3 "$root/integration/s3.sh" --ready-file "$work/s3.json" --data-dir "$work/s3-data"
  wait_for_file s3 "$work/s3.json"
}

# start_server NAME [OPTION...]: `lochan-server serve` with the warehouse `lake` on the server of start_s3;
# its addresses in $work/NAME.json.
start_server() {
  local name=$1 bucket warehouse key settings=()
  shift
  bucket=$(json "$work/s3.json" bucket)
  for warehouse in LAKE SECOND; do
    settings+=("LOCHAN__WAREHOUSES__${warehouse}__S3__PATH_STYLE=true")
    for key in endpoint region access_key:access_key_id secret_key:secret_access_key; do
      settings+=("LOCHAN__WAREHOUSES__${warehouse}__S3__$(tr a-z A-Z <<<"${key#*:}")=$(json "$work/s3.json" "${key%:*}")")
    done
  done
  spawn "$name" env "${settings[@]}" "$server_bin" serve --data-dir "$work/$name" --listen 127.0.0.1:0 \
    --management-listen 127.0.0.1:0 --warehouse "lake=s3://$bucket/warehouse" --warehouse "second=s3://$bucket/second" \
    --ready-file "$work/$name.json" "$@"
  wait_for_file "$name" "$work/$name.json"
}

# start_dev NAME: `lochan-server dev`, with its own S3 endpoint; its addresses in $work/NAME.json.
start_dev() {
  LOCHAN__DEV__S3_LISTEN=127.0.0.1:0 spawn "$1" "$server_bin" dev --data-dir "$work/$1" --listen 127.0.0.1:0 \
    --management-listen 127.0.0.1:0 --ready-file "$work/$1.json"
  wait_for_file "$1" "$work/$1.json"
}
