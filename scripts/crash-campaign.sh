#!/usr/bin/env bash
# Ends a gateway in so many ways and so often (500 times unless told otherwise), by kill -9 and by power cuts, and prints a table
# of what came of it. `DOORBELL_SEED` begins with a seed of your choice; each part says how it is repeated.
set -euo pipefail
cd "$(dirname "$0")/.."

rounds=${1:-500}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "$rounds rounds on $(nproc) cores, $(uname -sr), $(git rev-parse --short HEAD), $(date -u +%F)"
# Not by nextest, which would take so long a test for one that hangs.
if ! DOORBELL_ROUNDS=$rounds cargo test --quiet --test crash_rounds -- --nocapture >"$log" 2>&1; then
    cat "$log" >&2
    exit 1
fi
grep -oE "to repeat: .*|.* forgotten by power cuts$" "$log"
grep -E "^\|" "$log"
