# Requests made from the OpenAPI documents.

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
    "${LOCHAN_FUZZ_CASES:-2000}" | tee "$work/api-fuzz.out" || { tail -n 20 "$work/api-fuzz.log" >&2; return 1; }
  stop api-fuzz
  result api-fuzz "$(tail -n 1 "$work/api-fuzz.out")"
}
