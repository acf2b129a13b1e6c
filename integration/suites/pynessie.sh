# pynessie, Nessie's Python command line, against our server.

PYNESSIE_VERSION=$(sed -n 's/^pynessie==//p' "$root/integration/requirements/pynessie.txt")

run_pynessie() {
  local env
  env=$(python_env pynessie) || return 1
  say "starting lochan-server with a file warehouse"
  spawn pynessie "$server_bin" serve --data-dir "$work/pynessie" --listen 127.0.0.1:0 --management-listen 127.0.0.1:0 \
    --warehouse "lake=file://$work/warehouse" --ready-file "$work/pynessie.json"
  wait_for_file pynessie "$work/pynessie.json"
  say "running the command line of pynessie against it"
  LOCHAN_NESSIE=$(json "$work/pynessie.json" nessie) "$env/bin/python" -m pytest -q -p no:cacheprovider -W ignore --tb=short \
    "$root/integration/pynessie" | tee "$work/pynessie.out" || { tail -n 20 "$work/pynessie.log" >&2; return 1; }
  stop pynessie
  result pynessie "$(counts "$work/pynessie.out")"
}
