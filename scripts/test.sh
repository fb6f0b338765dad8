#!/usr/bin/env bash
# Installs what the tests need and runs them all: format, lints, licences, limits of the house, tests, crash rounds.
# A Rust toolchain and a C compiler are expected; everything else is installed here.
set -euo pipefail
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }

have cargo-nextest || cargo install cargo-nextest --locked
have cargo-deny || cargo install cargo-deny --locked --no-default-features

echo "== format" && cargo fmt --all --check
echo "== house rules" && scripts/house-rules.sh
echo "== licences and bans" && cargo deny --log-level error check bans licenses sources
echo "== lints" && cargo clippy --workspace --all-targets --quiet -- -D warnings
echo "== docs of code"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
cargo test --workspace --doc --quiet
echo "== tests" && cargo nextest run --workspace --profile "${NEXTEST_PROFILE:-default}" "$@"
