#!/usr/bin/env bash
# Debian packages of what is committed, in build/deb: from the archive of tools/dist.sh, with packaging/debian as debian/.
set -euo pipefail
cd "$(dirname "$0")/.."
archive=$(tools/dist.sh)
version=${archive##*procession-} version=${version%.tar.xz}
rm -rf build/deb
mkdir -p build/deb
tar -xf "$archive" -C build/deb
cp -r "build/deb/procession-$version/packaging/debian" "build/deb/procession-$version/debian"
log=build/deb/build.log
(cd "build/deb/procession-$version" && dpkg-buildpackage -us -uc -b) > "$log" 2>&1 || { tail -40 "$log" >&2; exit 1; }
command -v lintian >/dev/null && lintian --fail-on error,warning build/deb/*.changes
ls build/deb/*.deb
