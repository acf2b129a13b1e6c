# What the pages for users say, done.

run_readme() {
  local env
  env=$(python_env lake) || return 1
  mkdir -p "$work/readme"
  "$env/bin/python" "$root/integration/readme/run.py" "$server_bin" "$cli_bin" "$work/readme" | tee "$work/readme.out" || return 1
  result readme "$(counts "$work/readme.out")"
}
