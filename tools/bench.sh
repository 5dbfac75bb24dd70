#!/usr/bin/env bash
# Runs the measurements of bench/ against the optimised server.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/build.sh release
export PROCESSIOND=$PWD/build/release/src/daemon/processiond PROCESSION=$PWD/build/release/src/cli/procession
for script in bench/run bench/run.sh; do
    [ -x $script ] && exec $script "$@"
done
if [ -f bench/run.py ]; then
    python=/usr/bin/python3
    [ -x $python ] || python=python3
    exec $python bench/run.py "$@"
fi
echo "bench.sh: no bench/run" >&2
exit 1
