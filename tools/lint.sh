#!/usr/bin/env bash
# Static checks: our own checkers first (seconds), then cppcheck and clang-tidy (a minute or two).
# `lint.sh quick` runs our own only, `lint.sh slow` the others only.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
# Debian's interpreter, whatever else is on the path.
python=/usr/bin/python3
[ -x $python ] || python=python3
failed=0

check() {
    local name=$1
    shift
    if "$@"; then
        echo "lint: $name: ok"
    else
        echo "lint: $name: FAILED"
        failed=1
    fi
}

own_checkers() {
    check includes $python tools/check_includes.py
    if [ -d build/meson/src ]; then check prefixes $python tools/check_prefixes.py; fi
    check readmes $python tools/check_readmes.py
    check rooms $python tools/draw_rooms.py --check
    check threads $python tools/draw_threads.py --check
    check assertions $python tools/check_assertions.py
    check settings $python tools/settings.py check
    check procedures $python tools/procgen.py --check
    check text $python tools/check_text.py
    if command -v clang-format-14 >/dev/null; then check format tools/format.sh --check; fi
    check references $python tools/check_references.py
    check conformance $python tools/conformance.py --check
    # The plain build's objects; without them there is nothing to look at yet.
    if [ -d build/meson/src ]; then check globals $python tools/check_globals.py; fi
}
[ "${1:-}" = slow ] || own_checkers
if [ "${1:-}" = quick ]; then exit $failed; fi

run_cppcheck() {
    cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 -j 2 \
        --suppressions-list=tools/cppcheck.suppress -I src src
}

run_clang_tidy() {
    # The commands of the plain build; its generated sources must exist before they can be included.
    tools/build.sh plain || return 1
    # err.c defines what err.h replaces for the analyzer.
    find src -name '*.c' | sort | grep -v '^src/base/err\.c$' | xargs -P 2 -n 4 clang-tidy-14 -p build/meson --extra-arg=-Wno-unknown-warning-option --quiet --warnings-as-errors='*' 2>/dev/null
}

mkdir -p build
command -v cppcheck >/dev/null && check cppcheck run_cppcheck
command -v clang-tidy-14 >/dev/null && check clang-tidy run_clang_tidy
exit $failed
