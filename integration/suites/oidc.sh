# Tokens of a real OpenID Connect provider.

OIDC_PROVIDER_VERSION=9.13.3

install_oidc_provider() {
  [ ! -e "$1/.complete" ] || return 0
  mkdir -p "$1" && echo '{"private":true,"type":"module"}' >"$1/package.json" || return 1
  (cd "$1" && npm install --no-audit --no-fund --silent "oidc-provider@$OIDC_PROVIDER_VERSION") >&2 || return 1
  touch "$1/.complete"
}

run_oidc() {
  if ! command -v node >/dev/null 2>&1 || ! command -v npm >/dev/null 2>&1; then say "oidc: skipped, there is no Node"; return 0; fi
  local folder="$LOCHAN_CACHE/oidc-provider-$OIDC_PROVIDER_VERSION" issuer nessie
  if ! locked "$folder.lock" install_oidc_provider "$folder"; then say "oidc: skipped, npm has no oidc-provider here"; return 0; fi
  spawn provider node "$root/integration/oidc/provider.mjs" "$folder" "$work/provider.json"
  wait_for_file provider "$work/provider.json"
  issuer=$(json "$work/provider.json" issuer)
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
  PYTHONPATH="$root/integration" python3 "$root/integration/oidc/check.py" "${nessie%/api/}" "$issuer" "$cli_bin" | tee "$work/oidc.out" || { tail -n 20 "$work/oidc.log" >&2; return 1; }
  stop oidc && stop provider
  result oidc "$(counts "$work/oidc.out")"
}
