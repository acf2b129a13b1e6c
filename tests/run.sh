#!/usr/bin/env bash
# The everyday suite: formatting, lints, all tests of the workspace. Needs Rust and nothing else.
#
# usage: tests/run.sh [cargo test argument...]      e.g. tests/run.sh -p lochan-storage-engine merge
#
# With arguments only the named tests run, without formatting and lints. One profile and one target folder are used
# throughout, so nothing is built twice.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
case "${1:-}" in -h | --help) sed -n '2,/^[^#]/{/^#/{s/^# \{0,1\}//;p}}' "$0"; exit 0 ;; esac

say() { printf '%s\n' "==> $*"; }

command -v cargo >/dev/null 2>&1 || { echo "error: 'cargo' is needed: https://rustup.rs installs Rust" >&2; exit 1; }
if command -v rustup >/dev/null 2>&1; then
  # rust-toolchain.toml names the version and the components; this installs what of them is missing.
  rustup show active-toolchain >/dev/null 2>&1 || { say "installing the Rust toolchain"; rustup toolchain install; }
fi

if [ $# -gt 0 ]; then
  say "running cargo test $*"
  exec cargo test "$@"
fi

began=$SECONDS
say "formatting (cargo fmt --check)"
cargo fmt --all --check
say "building everything and all tests"
cargo build --workspace --bins --tests
say "running all tests"
tests_began=$SECONDS
cargo test --workspace
tests_seconds=$((SECONDS - tests_began))
say "lints as errors (cargo clippy)"
cargo clippy --quiet --workspace --all-targets -- -D warnings
say "everyday suite passed in $((SECONDS - began)) s, of them $tests_seconds s in the tests"
