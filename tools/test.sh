#!/usr/bin/env bash
# Every test, in the order in which failures are cheapest to learn. Ends with one line, "N passed, N failed",
# and a status other than 0 when something failed. Reports are kept in build/reports.
#   SUITES="unit lint onpostgres postgres behaviour model cli scheduler worker sspi drivers web crash mutants"  picks parts;  JOBS=4  tests at once.
#   LONG=1  runs the tests marked long, and only these (make test-long).
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
: "${LONG:=}" "${JOBS:=$((2 * $(nproc)))}" # most tests wait most of their time
if [ -n "$LONG" ]; then : "${SUITES:=onpostgres behaviour model cli scheduler worker sspi drivers web crash packages}"; fi
: "${SUITES:=unit lint onpostgres postgres behaviour model cli scheduler worker sspi drivers web crash mutants}"
reports=$PWD/build/reports
python=/usr/bin/python3
[ -x $python ] || python=python3
rm -rf "$reports"
mkdir -p "$reports"

wanted() { [[ " $SUITES " == *" $1 "* ]]; }
step() { printf '\n== %s (%ds)\n' "$*" $SECONDS; }
# One line a check for the tally: "check <name> passed|failed".
record() { echo "check $1 $2" >>"$reports/checks.txt"; }
check() {
    local name=$1
    shift
    if "$@"; then record "$name" passed; else record "$name" failed; echo "FAILED: $name"; fi
}

# A sanitizer's report goes to the log of its process, where the tests look for it, and gives it a status other than 0.
# libfaketime is preloaded in some tests, before the sanitizer's own library: allowed.
export ASAN_OPTIONS="verify_asan_link_order=0:detect_stack_use_after_return=1:strict_string_checks=1"
export UBSAN_OPTIONS="print_stacktrace=1"
export LSAN_OPTIONS="suppressions=$PWD/tools/lsan.suppress:print_suppressions=0"
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:suppressions=$PWD/tools/tsan.suppress"

meson_tests() {
    local flavour=$1 wrap=()
    shift
    # The thread sanitizer of gcc 12 cannot place its memory on kernels with more address randomisation.
    if [ "$flavour" = tsan ] && setarch -R true 2>/dev/null; then wrap=(setarch -R); fi
    # "${@}" narrows it to suites.
    "${wrap[@]}" meson test -C build/"$flavour" --no-rebuild --num-processes "$JOBS" --timeout-multiplier 3 --print-errorlogs "$@"
    local rc=$?
    cp build/"$flavour"/meson-logs/testlog.json "$reports/$flavour.json" 2>/dev/null || true
    # 77 and friends do not exist here: anything but 0 with no failed test in the log is a failure of the run itself.
    [ $rc -eq 0 ] || [ -s "$reports/$flavour.json" ] || record "$flavour-tests" failed
}

pytest_suite() {
    local name=$1
    compgen -G "tests/$name/**/test_*.py" >/dev/null || compgen -G "tests/$name/test_*.py" >/dev/null || { echo "no tests in tests/$name"; return; }
    $python -m pytest "tests/$name" -n "$JOBS" -m "$([ -n "$LONG" ] && echo long || echo 'not long')" -q -p no:cacheprovider --junitxml="$reports/$name.xml"
    # 5: nothing collected. Above 1 something other than a test failed.
    case $? in 0 | 1 | 5) ;; *) record "pytest-$name" failed ;; esac
}

# The same tests with the databases in PostgreSQL (tests/on-postgres says which). Beside the others, with a lower priority: both
# wait most of their time. The plain build: a sanitizer would find in it what it finds in the other runs, at three times the price.
begin_onpostgres() {
    echo "the tests on PostgreSQL go on beside the others: $reports/onpostgres.log"
    # shellcheck disable=SC2046 # a list of paths
    STORE=postgres PROCESSIOND=$PROCESSIOND_PLAIN nice -n 5 $python -m pytest $($python tools/on_postgres.py) -n "$(nproc)" \
        -m "$([ -n "$LONG" ] && echo long || echo 'not long')" -q --durations=10 -p no:cacheprovider \
        --junitxml="$reports/onpostgres.xml" >"$reports/onpostgres.log" 2>&1 &
    onpostgres=$!
}
finish_onpostgres() {
    wait "$onpostgres"
    local rc=$?
    cat "$reports/onpostgres.log"
    case $rc in 0 | 1 | 5) ;; *) record pytest-onpostgres failed ;; esac
}

# cppcheck and clang-tidy take minutes of a core that the tests leave idle now and then: with the lowest priority, beside
# them. In its time only: a slow machine must not turn it into a failure. `make lint` has no limit.
begin_analysis() {
    nice -n 19 timeout "${LINT_TIME:-900}" tools/lint.sh slow >"$reports/lint-slow.log" 2>&1 &
    analysis=$!
}
finish_analysis() {
    wait "$analysis"
    local rc=$?
    cat "$reports/lint-slow.log"
    case $rc in
    0) record lint passed ;;
    124) echo "static analysis: not finished in ${LINT_TIME:-900} seconds; make lint runs it to its end" ;;
    *) record lint failed; echo "FAILED: lint" ;;
    esac
}

step build
for flavour in plain asan; do
    check "build-$flavour" tools/build.sh $flavour
done
export PROCESSIOND=${PROCESSIOND:-$PWD/build/asan/src/daemon/processiond}
# libfaketime and a sanitizer do not go together: tests that set the clock run the plain build.
export PROCESSIOND_PLAIN=${PROCESSIOND_PLAIN:-$PWD/build/processiond}
# Built with the tests, without sanitizer: the server of the plain build is run under it.
export POWERLOSS=${POWERLOSS:-$PWD/build/asan/tests/support/powerloss.so}
export PROCESSION=${PROCESSION:-$PWD/build/asan/src/cli/procession}

if wanted lint; then
    step "our own checkers"
    check lint-quick tools/lint.sh quick
    begin_analysis
fi
if wanted unit; then
    step "unit tests and fuzz replay, address and undefined-behaviour sanitizers"
    [ -f build/asan/build.ninja ] && meson_tests asan
    step "unit tests, thread sanitizer"
    check build-tsan tools/build.sh tsan
    [ -f build/tsan/build.ninja ] && meson_tests tsan --suite unit
fi
if wanted onpostgres; then
    step "the same tests with the databases in PostgreSQL"
    begin_onpostgres
fi
for suite in postgres behaviour model cli scheduler worker sspi drivers web crash packages; do
    if wanted $suite; then
        step "$suite"
        pytest_suite $suite
    fi
done
if wanted mutants; then
    step "would the tests notice a wrong declaration? (a sample; make mutants tries all)"
    # These have been seen to be noticed, each of them: what is red here was broken since.
    $python tools/mutate.py --listed tools/mutate.sample --seconds 120 --limit 60 --jobs "$JOBS" \
        --junit "$reports/mutants.xml"
    [ -s "$reports/mutants.xml" ] || record mutants failed
fi
if wanted onpostgres; then
    step "on PostgreSQL, begun beside the tests"
    finish_onpostgres
fi
if wanted lint; then
    step "static analysis, begun beside the tests"
    finish_analysis
fi

step result
exec $python tools/tally.py "$reports"
