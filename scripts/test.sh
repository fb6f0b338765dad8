#!/usr/bin/env bash
# Installs what the tests need and runs them all: format, house rules, licences, lints, docs, tests, crash rounds.
# A Rust toolchain and a C compiler are expected; everything else is installed here. Arguments go to nextest.
set -euo pipefail
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }

have cargo-nextest || cargo install cargo-nextest --locked
have cargo-deny || cargo install cargo-deny --locked --no-default-features

# Tests start a PostgreSQL and a PgBouncer of their own. Debian's package would start one of the machine's; it must not.
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || [ ! -x /usr/sbin/pgbouncer ]; then
    if [ "$(id -u)" != 0 ]; then
        echo "the tests need the Debian packages postgresql and pgbouncer: apt-get install postgresql pgbouncer" >&2
        exit 1
    fi
    mkdir -p /etc/postgresql-common
    [ -e /etc/postgresql-common/createcluster.conf ] ||
        echo "create_main_cluster = false" >/etc/postgresql-common/createcluster.conf
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -yq --no-install-recommends postgresql pgbouncer
fi

echo "== format"
cargo fmt --all --check
echo "== house rules"
scripts/house-rules.sh
echo "== licences and bans"
cargo deny --log-level error check bans licenses sources
echo "== lints"
cargo clippy --workspace --all-targets --quiet -- -D warnings
echo "== docs of the code"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --document-private-items --quiet
cargo test --workspace --doc --quiet 2>&1 | grep -E "panicked|FAILED|error|passed" | sort -u
echo "== tests"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cargo nextest run --workspace --status-level fail --color never "$@" 2>&1 | tee "$log"
echo "== stories once more, with the ledger in PostgreSQL"
DOORBELL_TEST_STORE=postgres cargo nextest run --profile postgres --workspace --status-level fail --color never "$@" 2>&1 |
    tee -a "$log"
echo "== the ten slowest"
sed -nE 's/.*<testcase name="([^"]+)" classname="([^"]+)".* time="([0-9.]+)".*/\3 s  \2 \1/p' \
    target/nextest/default/junit.xml | sort -rn | sed -n 1,10p
grep -E '^ *Summary ' "$log"
