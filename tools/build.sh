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

say() { printf 'build: %s\n' "$*" >&2; }

# A checkout that root has built, or that was moved since: meson would fail with a traceback.
if [ -e build ] && [ -n "$(find build -maxdepth 2 ! -type l ! -writable -print -quit)" ]; then
    say "build/ belongs to another user: remove it with 'sudo make clean', then try again"
    exit 1
fi
mkdir -p build
if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/source-folder" 2>/dev/null)" != "$PWD" ]; then
    say "the checkout was moved: building $dir anew"
    rm -rf "$dir"
fi
if [ ! -f "$dir/build.ninja" ]; then
    [ "$flavour" != plain ] || say "building the server and the command (about half a minute the first time)"
    meson setup "$dir" "${options[@]}" >build/setup-"$flavour".log 2>&1 || { cat build/setup-"$flavour".log >&2; exit 1; }
    echo "$PWD" >"$dir/source-folder"
fi
# Silent unless something is wrong; but whoever waits at a terminal sees how far it is: the first time, after an interrupted build,
# after a pull.
if [ -t 2 ] && ! ninja -C "$dir" -n 2>/dev/null | grep -q 'no work to do'; then
    NINJA_STATUS='build: %p ' ninja -C "$dir" >&2 || exit 1
else
    ninja -C "$dir" --quiet >build/build-"$flavour".log 2>&1 || { cat build/build-"$flavour".log >&2; exit 1; }
fi
if [ "$flavour" = plain ]; then
    ln -sfn meson/src/daemon/processiond build/processiond
    ln -sfn meson/src/cli/procession build/procession
fi
