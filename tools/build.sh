#!/usr/bin/env bash
# Configures once and builds one flavour into build/<flavour>: plain, asan, tsan, fuzz.
# The plain one is build/meson, and its two programs are linked to build/processiond and build/procession.
set -euo pipefail
cd "$(dirname "$0")/.."

flavour=${1:-plain}
dir=build/$flavour
options=()
case $flavour in
plain) dir=build/meson; options=(-Dtests=false) ;;
release) options=(--buildtype=release -Db_lto=true -Dwerror=false -Dtests=false "--prefix=${PREFIX:-/usr/local}") ;;
asan) options=(-Db_sanitize=address,undefined -Db_lundef=false) ;;
tsan) options=(-Db_sanitize=thread -Db_lundef=false) ;;
fuzz) options=(-Dfuzz=true -Dtests=false -Db_sanitize=address,undefined -Db_lundef=false); export CC=clang-14 ;;
*) echo "build.sh: unknown flavour '$flavour' (plain, release, asan, tsan, fuzz)" >&2; exit 2 ;;
esac

mkdir -p build
if [ ! -f "$dir/build.ninja" ]; then
    meson setup "$dir" "${options[@]}" >build/setup-"$flavour".log 2>&1 || { cat build/setup-"$flavour".log >&2; exit 1; }
fi
# Silent unless something is wrong.
ninja -C "$dir" --quiet >build/build-"$flavour".log 2>&1 || { cat build/build-"$flavour".log >&2; exit 1; }
if [ "$flavour" = plain ]; then
    ln -sfn meson/src/daemon/processiond build/processiond
    ln -sfn meson/src/cli/procession build/procession
fi
