#!/usr/bin/env bash
# Installs the Debian packages that are missing: `setup.sh build`, `setup.sh build test`, `setup.sh domain`, `setup.sh bench`.
# Does nothing when all are there. Asks for sudo's password at most once. Without a build package it fails; without a
# package of the tests it says so and goes on, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each word is a package, or command=package where any program of that name will do.
build_packages=(
    cc=gcc libc6-dev meson ninja=ninja-build pkg-config python3 libuv1-dev libssl-dev libkrb5-dev libsqlite3-dev zlib1g-dev libargon2-dev
    libinih-dev libxml2-dev libcurl4-openssl-dev libsystemd-dev freetds-dev libseccomp-dev libzip-dev libjansson-dev libmicrohttpd-dev libedit-dev libarchive-dev libreofficekit-dev
)
test_packages=(
    krb5-kdc krb5-admin-server krb5-user gss-ntlmssp
    libcmocka-dev python3-pytest python3-pytest-xdist
    postgresql-15 postgresql-15-plpgsql-check python3-psycopg2
    freetds-bin tdsodbc unixodbc unixodbc-dev python3-tds python3-openssl python3-pymssql python3-pyodbc python3-sqlalchemy
    libdbd-sybase-perl php-cli php-sybase php-odbc libhikaricp-java libjtds-java default-jdk-headless
    mono-mcs mono-runtime libmono-system-data4.0-cil libmono-i18n-west4.0-cil golang-go golang-github-denisenkom-go-mssqldb-dev
    node=nodejs npm=npm libfaketime sqlite3 openssl pgrep=procps
    apertium apertium-eng-spa apertium-spa-cat transfuse cg3
    libreoffice-writer poppler-utils fonts-liberation util-linux
    clang-14 libclang-rt-14-dev clang-tidy cppcheck clang-format
)

# A domain controller for the tests of integrated logins; as programs, never as services.
domain_packages=(samba samba-common-bin samba-ad-provision samba-dsdb-modules python3-samba winbind iproute2)

# What the benchmark compares with.
bench_packages=(libreoffice-writer python3-uno postgresql-15 postgresql-client-15 redis-server redis-tools)

say() { printf 'setup: %s\n' "$*" >&2; }

# Prints the packages of the given words that are not installed.
missing() {
    local word installed
    installed=" $(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' 2>/dev/null | sed -n 's/^ii //p' | tr '\n' ' ')"
    for word in "$@"; do
        case $word in
        *=*) command -v "${word%%=*}" >/dev/null || echo "${word#*=}" ;;
        *) [[ $installed == *" $word "* ]] || echo "$word" ;;
        esac
    done
}

# What is to be run by hand where we may not install: printed once, for all packages that are missing.
by_hand() { say "run this once, as root, then try again:  apt-get update && apt-get install -y --no-install-recommends $*"; }

# sudo asks for its password once, on the terminal; where it cannot, `by_hand` says what is wanted.
may_be_root() {
    [ "$(id -u)" -eq 0 ] && return 0
    command -v sudo >/dev/null || return 1
    sudo -n true 2>/dev/null && return 0
    { : </dev/tty; } 2>/dev/null || return 1
    say "sudo may ask for your password, to install packages"
    sudo -v
}

as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

enabled_services() { systemctl list-unit-files --type=service,socket,timer --state=enabled --no-legend 2>/dev/null | awk '{ print $1 }' | sort; }

# Tests need servers (a KDC, Samba, PostgreSQL) as programs, which they start themselves. Debian's packages start and enable them
# as services: policy-rc.d keeps them from being started, and what was enabled meanwhile is disabled again.
POLICY=/usr/sbin/policy-rc.d
without_services() {
    local before after new rc=0 own=no
    before=$(enabled_services)
    if [ ! -e $POLICY ]; then
        own=yes
        printf '#!/bin/sh\nexit 101\n' | as_root tee $POLICY >/dev/null && as_root chmod 755 $POLICY
    fi
    "$@" || rc=$?
    [ $own = no ] || as_root rm -f $POLICY
    after=$(enabled_services)
    new=$(comm -13 <(echo "$before") <(echo "$after") | tr '\n' ' ')
    if [ -n "${new// /}" ]; then
        say "installed as programs only; not enabled: $new"
        # shellcheck disable=SC2086 # a list of names
        as_root systemctl disable --quiet $new 2>/dev/null || true
    fi
    return $rc
}

# "30 packages, 80 MB to fetch, 310 MB on the disk", with all that they need.
how_much() {
    local list
    list=$(apt-get install -qq -y --no-install-recommends --print-uris "$@" 2>/dev/null | awk '{ split($2, n, "_"); print n[1], $3 }')
    # shellcheck disable=SC2046 # a list of names
    printf '%s packages, %s MB to fetch, %s MB on the disk' "$(echo "$list" | wc -l)" \
        "$(echo "$list" | awk '{ s += $2 } END { printf "%d", s / 1e6 + 1 }')" \
        "$(apt-cache show --no-all-versions $(echo "$list" | cut -d' ' -f1) 2>/dev/null | awk '/^Installed-Size:/ { s += $2 } END { printf "%d", s / 1e3 + 1 }')"
}

apt_install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2; }

# Those of the packages that this system knows. The rest is said once.
known() {
    local package unknown=()
    for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"; else unknown+=("$package"); fi
    done
    [ ${#unknown[@]} -eq 0 ] || say "not known to this system: ${unknown[*]}"
}

updated=no
# install KIND word…: all in one call, so that a password is asked for once.
install() {
    local kind=$1 wanted here
    shift
    mapfile -t wanted < <(missing "$@")
    [ ${#wanted[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        say "not a Debian system; please install what these packages hold: ${wanted[*]}"
        [ "$kind" = build ] && return 1
        return 0
    fi
    if ! may_be_root; then
        say "packages are missing, and neither root nor sudo is at hand"
        by_hand "${wanted[@]}"
        [ "$kind" = build ] && return 1
        say "what needs them is skipped"
        return 0
    fi
    if [ "$updated" = no ]; then
        as_root apt-get update -q >/dev/null 2>&1 || say "apt-get update failed; trying with the package lists that are here"
        updated=yes
    fi
    mapfile -t here < <(known "${wanted[@]}")
    say "installing for $kind: ${here[*]} ($(how_much "${here[@]}"))"
    without_services apt_install "${here[@]}" || true
    mapfile -t wanted < <(missing "$@")
    [ ${#wanted[@]} -eq 0 ] && return 0
    say "could not be installed: ${wanted[*]}"
    if [ "$kind" = build ]; then
        by_hand "${wanted[@]}"
        return 1
    fi
    say "what needs them is skipped"
}

# The Node drivers come from npm, at the versions of the lock file.
node_drivers() {
    local dir=tests/drivers/node
    [ -f $dir/package-lock.json ] || return 0
    [ $dir/node_modules/.package-lock.json -nt $dir/package-lock.json ] && return 0
    command -v npm >/dev/null || { say "npm is not there: the Node driver tests are skipped"; return 0; }
    say "npm ci in $dir"
    (cd $dir && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) || say "npm ci failed: the Node driver tests are skipped"
}

[ $# -gt 0 ] || { echo "usage: setup.sh build|test|domain|bench …" >&2; exit 2; }
for what in "$@"; do
    case $what in
    build) install build "${build_packages[@]}" ;;
    bench) install bench "${bench_packages[@]}" ;;
    domain) install domain "${domain_packages[@]}" ;;
    test)
        install test "${test_packages[@]}"
        install domain "${domain_packages[@]}"
        node_drivers
        ;;
    *) say "unknown list '$what'"; exit 2 ;;
    esac
done
