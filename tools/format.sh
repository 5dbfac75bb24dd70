#!/usr/bin/env bash
# Formats all C of the project with clang-format; `format.sh --check` only says what it would change.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(find src tests fuzz bench -name '*.[ch]' -not -path '*/node_modules/*' | sort)
if [ "${1:-}" = --check ]; then
    exec clang-format-14 --dry-run --Werror "${files[@]}"
fi
exec clang-format-14 -i "${files[@]}"
