#!/usr/bin/env bash
# Builds with optimisation and installs: programs, manual pages, sample configuration, systemd unit.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${PREFIX:=/usr/local}" "${DESTDIR:=}"

export PREFIX
if [ -f build/release/build.ninja ]; then
    meson configure build/release "-Dprefix=$PREFIX"
fi
tools/build.sh release
DESTDIR=$DESTDIR meson install -C build/release --no-rebuild --quiet
echo "installed under ${DESTDIR}${PREFIX}: bin/procession, sbin/processiond, manual pages, systemd unit, sample configuration"
