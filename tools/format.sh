#!/usr/bin/env bash
# Formats all C of the project with clang-format, and breaks lines of documents that are too wide; `format.sh --check` only says
# what it would change in C: check_text.py says where a document is too wide.
set -euo pipefail
cd "$(dirname "$0")/.."
mapfile -t files < <(find src tests fuzz bench -name '*.[ch]' -not -path '*/node_modules/*' | sort)
if [ "${1:-}" = --check ]; then
    exec clang-format-14 --dry-run --Werror "${files[@]}"
fi
/usr/bin/python3 tools/wrap_documents.py
exec clang-format-14 -i "${files[@]}"
