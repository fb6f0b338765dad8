#!/usr/bin/env bash
# The limits that make the code readable, checked: small files, no unsafe, no forbidden names, generated pages up to date.
set -euo pipefail
cd "$(dirname "$0")/.."
bad=0
say() { echo "house rule: $*" >&2; bad=1; }

while read -r lines file; do
    [ "$file" = total ] || [ "$lines" -le 400 ] || say "$file has $lines lines; at most 400, split it by idea"
done < <(git ls-files '*.rs' | xargs wc -l)

while read -r file; do
    case "$(basename "$file")" in
    mod.rs) say "$file: use foo.rs beside foo/" ;;
    util.rs | utils.rs | common.rs | helpers.rs | types.rs | manager.rs) say "$file: name the idea" ;;
    esac
done < <(git ls-files '*.rs')

if git grep -nE '\b(todo|unimplemented)!\(|TODO|FIXME' -- '*.rs' '*.md' '*.sql' '*.toml' >&2; then
    say "unfinished work stands above"
fi
exit "$bad"
