#!/usr/bin/env bash
# A source archive of what is committed: build/dist/procession-VERSION.tar.xz. It builds offline, with Debian's packages.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
mkdir -p build/dist
git archive --format=tar --prefix="procession-$version/" HEAD | xz -T0 > "build/dist/procession-$version.tar.xz"
echo "build/dist/procession-$version.tar.xz"
