# The fuzz targets of tests/fuzz.

CARGO_FUZZ_VERSION=0.13.2
FUZZ_TARGETS=(reference key json token filter)
FUZZ_INPUT_SECONDS_MAX=5 FUZZ_MEMORY_MB_MAX=512

install_cargo_fuzz() {
  [ ! -x "$1/bin/cargo-fuzz" ] || return 0
  say "installing cargo-fuzz (once) into $1"
  # A target folder of its own, so that nothing else is built anew for it.
  CARGO_TARGET_DIR="$1/target" cargo install --quiet --locked --root "$1" "cargo-fuzz@$CARGO_FUZZ_VERSION" >&2 || return 1
  rm -rf "$1/target"
}

# run_fuzz SECONDS: each target for so long. Without a sanitizer, which is for `unsafe`, any compiler will do.
run_fuzz() {
  local seconds=$1 target corpus folder="$LOCHAN_CACHE/cargo-fuzz-$CARGO_FUZZ_VERSION" inputs=0 flags
  need cargo "https://rustup.rs installs Rust"
  if ! command -v c++ >/dev/null 2>&1; then say "fuzz: skipped, there is no C++ compiler"; return 0; fi
  locked "$folder.lock" install_cargo_fuzz "$folder" || return 1
  # The versions that everything else is built with.
  cp "$root/Cargo.lock" "$root/tests/fuzz/Cargo.lock"
  flags=(--fuzz-dir . --sanitizer none --codegen-units 16)
  say "building the fuzz targets (the first time takes some minutes)"
  (cd "$root/tests/fuzz" && PATH="$folder/bin:$PATH" cargo fuzz build "${flags[@]}") >"$work/fuzz.log" 2>&1 ||
    { tail -n 40 "$work/fuzz.log" >&2; return 1; }
  for target in "${FUZZ_TARGETS[@]}"; do
    corpus="$work/corpus-$target"
    mkdir -p "$corpus"
    say "fuzzing $target for $seconds s"
    (cd "$root/tests/fuzz" && PATH="$folder/bin:$PATH" cargo fuzz run "${flags[@]}" "$target" "$corpus" "corpus/$target" -- \
      -max_total_time="$seconds" -timeout="$FUZZ_INPUT_SECONDS_MAX" -rss_limit_mb="$FUZZ_MEMORY_MB_MAX" -max_len=16384 \
      -print_final_stats=1 -artifact_prefix="$work/") >"$work/fuzz-$target.log" 2>&1 || {
      tail -n 40 "$work/fuzz-$target.log" >&2
      # What was found, to be kept under tests/fuzz/corpus.
      find "$work" -maxdepth 1 -regex '.*/\(crash\|timeout\|oom\|leak\|slow-unit\)-.*' -exec base64 {} \; -print >&2
      return 1
    }
    grep -E 'number_of_executed_units|peak_rss_mb|slowest_unit' "$work/fuzz-$target.log" || true
    inputs=$((inputs + $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/fuzz-$target.log")))
  done
  result fuzz "$inputs inputs in $((seconds * ${#FUZZ_TARGETS[@]})) s, nothing found"
}
