#!/usr/bin/env bash
# Runs every fuzz target for FUZZ_TIME seconds with its corpus; what is found goes to fuzz/findings.
# `FUZZ_TARGETS="login7 rpc"` picks some.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
: "${FUZZ_TIME:=60}" "${FUZZ_TARGETS:=}"
tools/build.sh fuzz || exit 1
mkdir -p fuzz/findings
failed=0 ran=0
for program in build/fuzz/fuzz/fuzz_*; do
    [ -f "$program" ] && [ -x "$program" ] || continue
    name=${program##*/fuzz_}
    [ -z "$FUZZ_TARGETS" ] || [[ " $FUZZ_TARGETS " == *" $name "* ]] || continue
    echo "== $name, ${FUZZ_TIME}s"
    mkdir -p build/fuzz/corpus/"$name"
    seeds=()
    [ -d fuzz/corpus/"$name" ] && seeds=(fuzz/corpus/"$name")
    "$program" -max_total_time="$FUZZ_TIME" -rss_limit_mb=2048 -timeout=10 -print_final_stats=0 -verbosity=0 \
        -artifact_prefix=fuzz/findings/"$name"- build/fuzz/corpus/"$name" "${seeds[@]}" || failed=$((failed + 1))
    ran=$((ran + 1))
done
echo "$ran targets run, $failed with findings (fuzz/findings)"
[ $ran -gt 0 ] && [ $failed -eq 0 ]
