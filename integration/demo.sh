#!/usr/bin/env bash
# The main job, end to end, on real data: builds the server, starts it beside an S3-compatible server, loads 336,776
# flights with PyIceberg, works on a branch, reads both branches with DuckDB, merges, meets a conflict, tags, resets.
# Then all of it again on `lochan-server dev`, which brings its own S3 endpoint. Every figure is asserted.
#
# usage: integration/demo.sh [s3] [dev]      (default: both)
#
# environment
#   S3_SERVER      seaweedfs (default; from PyPI) or minio (built with Go)
#   LOCHAN_CACHE   what is installed once and kept (default ${XDG_CACHE_HOME:-~/.cache}/lochan)
#   LOCHAN_BIN     folder of lochan-server and lochan; set, nothing is built
#   LOCHAN_KEEP    set, the logs of a run that failed are kept
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
usage_if_asked "$@"
parts=("$@")
[ $# -gt 0 ] || parts=(s3 dev)
for part in "${parts[@]}"; do
  case $part in s3 | dev) ;; *) fail "unknown part '$part' (see --help)" ;; esac
done

build_binaries
lake=$(python_env lake)
pynessie=$(python_env pynessie)
new_work
began=$SECONDS

# main_job NAME [OPTION...]: the demo against the server NAME.
main_job() {
  local name=$1; shift
  "$lake/bin/python" "$root/integration/demo/main.py" --ready "$work/$name.json" --cli "$cli_bin" \
    --pynessie "$pynessie/bin/nessie" "$@" || { tail -n 20 "$work/$name.log" >&2; fail "the demo on $name failed"; }
}

for part in "${parts[@]}"; do
  case $part in
    s3)
      say "starting ${S3_SERVER:-seaweedfs}, an S3-compatible server that is not ours"
      start_s3
      say "starting lochan-server with a warehouse on it"
      start_server lochan
      main_job lochan --s3 "$work/s3.json" --warehouse lake
      stop lochan
      stop s3
      ;;
    dev)
      say "starting lochan-server dev, with its own S3 endpoint"
      start_dev lochan-dev
      main_job lochan-dev
      stop lochan-dev
      ;;
  esac
done
say "the main job passed (${parts[*]}) in $((SECONDS - began)) s"
