#!/usr/bin/env bash
# Installs the Debian packages that are missing: `setup.sh build`, `setup.sh build test`, `setup.sh domain`, `setup.sh bench`.
# Asks nothing, and does nothing when all are there. Without a build package it fails; without a
# package of the tests it says so and goes on, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each word is a package, or command=package where any program of that name will do.
build_packages=(
    cc=gcc libc6-dev meson ninja=ninja-build pkg-config python3 libuv1-dev libssl-dev libkrb5-dev libsqlite3-dev zlib1g-dev libargon2-dev
    libinih-dev libxml2-dev libsystemd-dev freetds-dev
)
test_packages=(
    krb5-kdc krb5-admin-server krb5-user gss-ntlmssp
    libcmocka-dev python3-pytest python3-pytest-xdist
    freetds-bin tdsodbc unixodbc unixodbc-dev python3-tds python3-openssl python3-pymssql python3-pyodbc
    libdbd-sybase-perl php-cli php-sybase libjtds-java default-jdk-headless
    mono-mcs mono-runtime libmono-system-data4.0-cil libmono-i18n-west4.0-cil golang-go golang-github-denisenkom-go-mssqldb-dev
    node=nodejs npm=npm libfaketime sqlite3 openssl pgrep=procps
    clang-14 libclang-rt-14-dev clang-tidy cppcheck clang-format
)

# A domain controller for the tests of integrated logins. Where services are started at installation that would be a file server, too: there only when asked for.
domain_packages=(samba samba-common-bin samba-ad-provision samba-dsdb-modules python3-samba winbind iproute2)

# What the benchmark compares with.
bench_packages=(postgresql-15 postgresql-client-15 redis-server redis-tools)

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

as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo -n "$@"
    else
        say "root is needed for: $*"
        return 1
    fi
}

updated=no
apt_install() {
    if [ "$updated" = no ]; then
        as_root apt-get update -q >&2 || say "apt-get update failed; trying with the package lists that are here"
        updated=yes
    fi
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$@" >&2
}

# install KIND word…: all at once, then one by one so that a single missing package costs only itself.
install() {
    local kind=$1 wanted package lacking=()
    shift
    mapfile -t wanted < <(missing "$@")
    [ ${#wanted[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        say "not a Debian system; please install what these packages hold: ${wanted[*]}"
        [ "$kind" = build ] && return 1
        return 0
    fi
    say "installing for $kind: ${wanted[*]}"
    apt_install "${wanted[@]}" && return 0
    for package in "${wanted[@]}"; do
        apt_install "$package" || lacking+=("$package")
    done
    [ ${#lacking[@]} -eq 0 ] && return 0
    say "could not be installed: ${lacking[*]}"
    if [ "$kind" = build ]; then
        say "the build needs them: sudo apt-get install ${lacking[*]}"
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
        [ -d /run/systemd/system ] || install domain "${domain_packages[@]}"
        node_drivers
        ;;
    *) say "unknown list '$what'"; exit 2 ;;
    esac
done
