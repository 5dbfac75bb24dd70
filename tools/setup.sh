#!/usr/bin/env bash
# Installs the Debian packages that are missing: `setup.sh build`, `setup.sh build test`, `setup.sh clients`, `setup.sh bench`, `setup.sh packages`,
# `setup.sh failover`, `setup.sh machines`.
# Does nothing when all are there. Asks for sudo's password at most once. Without a build package it fails; without a
# package of the tests it says so and goes on, and the tests that need it are skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

# Each word is a package, or command=package where any program of that name will do.
build_packages=(
    cc=gcc libc6-dev meson ninja=ninja-build pkg-config python3 libuv1-dev libssl-dev libkrb5-dev libsqlite3-dev libpq-dev zlib1g-dev libargon2-dev
    libinih-dev libxml2-dev libcurl4-openssl-dev libsystemd-dev freetds-dev libseccomp-dev libzip-dev libjansson-dev libmicrohttpd-dev libedit-dev libarchive-dev libreofficekit-dev
)
test_packages=(
    krb5-kdc krb5-admin-server krb5-user gss-ntlmssp
    libcmocka-dev python3-pytest python3-pytest-xdist
    postgresql-15 postgresql-15-plpgsql-check python3-psycopg2
    freetds-bin tdsodbc unixodbc unixodbc-dev python3-tds python3-pkg-resources python3-openssl python3-pymssql python3-pyodbc python3-sqlalchemy
    libdbd-sybase-perl libdbd-odbc-perl libdbix-class-perl php-cli php-sybase php-odbc libhikaricp-java libjtds-java default-jdk-headless
    mono-mcs mono-runtime libmono-system-data4.0-cil libmono-i18n-west4.0-cil golang-go golang-github-denisenkom-go-mssqldb-dev
    zsh node=nodejs npm=npm libfaketime sqlite3 openssl pgrep=procps
    apertium apertium-eng-spa apertium-spa-cat transfuse cg3
    libreoffice-writer poppler-utils fonts-liberation util-linux chromium
    clang-14 libclang-rt-14-dev clang-tidy cppcheck clang-format
    prometheus haproxy
)

# Clients of whole desktops and languages, for make test-long: 450 MB more on the disk, most of it R, Free Pascal and Boost.
client_packages=(
    g++ qtbase5-dev libqt5sql5-odbc libqt5sql5-tds libreoffice-base ure-java python3-uno r-cran-rodbc libhibernate3-java libjavassist-java
    fp-compiler fp-units-db fp-units-fcl libsoci-dev libboost-dev erlang-odbc
    ruby ruby-odbc ruby-sequel tcl8.6-tdbc-odbc postgresql-15-tds-fdw
)

# A domain controller for the tests of integrated logins; as programs, never as services.
domain_packages=(samba samba-common-bin samba-ad-provision samba-dsdb-modules python3-samba winbind iproute2)

# A cluster of PostgreSQL that fails over, for make test-failover; as programs, never as services.
failover_packages=(postgresql-15 python3-psycopg2 patroni python3-etcd etcd-server etcd-client haproxy ip=iproute2 iptables)

# What the benchmark compares with.
bench_packages=(libreoffice-writer python3-uno postgresql-15 postgresql-common postgresql-client-15 redis-server redis-tools)

# What `make deb` needs besides, and what its packages are tried on.
package_packages=(debhelper dpkg-dev lintian xz=xz-utils)
machine_packages=(debootstrap systemd-container buildah)

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

# ---- as root ----

# Tests need servers (a KDC, Samba, PostgreSQL) as programs, which they start themselves. Debian's packages start and enable them
# as services: policy-rc.d keeps them from being started, and what these packages enabled is disabled again, with the units
# that two of them keep in a package beside them. What came along otherwise (dbus, say) is not ours to touch.
POLICY=${POLICY_RC_D:-/usr/sbin/policy-rc.d} # another one in the tests only
OURS="of procession's tools/setup.sh, while it installs"
beside=(postgresql-common php-common)
enabled_services() { (systemctl list-unit-files --type=service,socket,timer --state=enabled --no-legend 2>/dev/null || true) | awk '{ print $1 }' | sort; }
units_of() { (dpkg -L "$@" 2>/dev/null || true) | sed -n -e 's|^.*/systemd/system/||p' -e 's|^/etc/init.d/\(.*\)|\1.service|p' | sort -u; }

# One of ours that is there already was left by a run that was killed.
services_off() {
    enabled_before=$(enabled_services)
    if [ ! -e "$POLICY" ] || grep -qF "$OURS" "$POLICY"; then
        printf '#!/bin/sh\n# %s\nexit 101\n' "$OURS" >"$POLICY" && chmod 755 "$POLICY"
    fi
}

services_as_before() { # the packages
    local new
    if grep -qsF "$OURS" "$POLICY"; then rm -f "$POLICY"; fi
    new=$(comm -13 <(echo "$enabled_before") <(enabled_services) | comm -12 - <(units_of "$@" "${beside[@]}") | tr '\n' ' ')
    [ -n "$new" ] || return 0
    say "installed as programs only; not enabled: $new"
    # shellcheck disable=SC2086 # a list of names
    systemctl disable --quiet $new 2>/dev/null || true
}

# Runs a command that installs the packages; what it does to services is undone also when it is interrupted.
without_services() {
    local rc=0
    mapfile -t packages <<<"$1" # the trap reads it
    shift
    trap 'services_as_before "${packages[@]}"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT
    trap 'exit 143' TERM
    services_off
    "$@" || rc=$?
    trap - EXIT HUP INT TERM
    services_as_before "${packages[@]}"
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

# Those of the packages that this system knows. The rest is said once.
known() {
    local package unknown=()
    for package in "$@"; do
        if apt-cache show "$package" >/dev/null 2>&1; then echo "$package"; else unknown+=("$package"); fi
    done
    [ ${#unknown[@]} -eq 0 ] || say "not known to this system: ${unknown[*]}"
}

apt_install() { DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >&2; }

# Installs the packages. Called by this script itself, through sudo where that is needed.
install_as_root() {
    local here
    say "reading the package lists"
    apt-get update -q >/dev/null 2>&1 || say "apt-get update failed; trying with the package lists that are here"
    mapfile -t here < <(known "$@")
    [ ${#here[@]} -gt 0 ] || return 0
    say "installing $(how_much "${here[@]}")"
    without_services "$(printf '%s\n' "${here[@]}")" apt_install "${here[@]}"
}

# ---- as anybody ----

# sudo is called once, for everything, so that it asks for a password once, whatever its settings are.
become_root() {
    if [ "$(id -u)" -eq 0 ]; then
        install_as_root "$@"
        return
    fi
    command -v sudo >/dev/null || return 1
    if ! sudo -n true 2>/dev/null; then
        # No terminal: nobody could answer.
        { : </dev/tty; } 2>/dev/null || return 1
        say "packages are missing; sudo may ask for your password, to install: $*"
    fi
    sudo "$BASH" "$PWD/tools/setup.sh" as-root "$@"
}

# install REQUIRED… -- OPTIONAL…: fails without the required ones, and only says so without the others.
install() {
    local required=() optional=() wanted told=no
    while [ "$1" != -- ]; do required+=("$1"); shift; done
    shift
    optional=("$@")
    mapfile -t wanted < <(missing "${required[@]}" "${optional[@]}" | sort -u)
    [ ${#wanted[@]} -eq 0 ] && return 0
    if ! command -v apt-get >/dev/null; then
        say "not a Debian system; please install what these packages hold: ${wanted[*]}"
    elif ! become_root "${wanted[@]}"; then
        mapfile -t wanted < <(missing "${required[@]}" "${optional[@]}" | sort -u)
        [ ${#wanted[@]} -eq 0 ] && return 0
        say "packages are missing, and they could not be installed from here"
        by_hand "${wanted[@]}"
        told=yes # a list of names is enough once
    fi
    mapfile -t wanted < <(missing "${optional[@]}")
    [ ${#wanted[@]} -eq 0 ] || [ $told = yes ] || say "not installed, and what needs it is skipped: ${wanted[*]}"
    mapfile -t wanted < <(missing "${required[@]}")
    [ ${#wanted[@]} -gt 0 ] || return 0
    [ $told = yes ] || say "not installed, and nothing can be built without: ${wanted[*]}"
    return 1
}

# What the tests take from npm, at the versions of the lock file.
node_packages() {
    local dir=$1
    [ -f $dir/package-lock.json ] || return 0
    [ $dir/node_modules/.package-lock.json -nt $dir/package-lock.json ] && return 0
    command -v npm >/dev/null || { say "npm is not there: tests that need $dir are skipped"; return 0; }
    say "npm ci in $dir"
    (cd $dir && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >&2) || say "npm ci failed: tests that need $dir are skipped"
}

[ $# -gt 0 ] || { echo "usage: setup.sh build|test|clients|domain|failover|bench|packages|machines …" >&2; exit 2; }
if [ "$1" = as-root ]; then
    shift
    install_as_root "$@"
    exit
fi
required=() optional=() node=no
for what in "$@"; do
    case $what in
    build) required+=("${build_packages[@]}") ;;
    bench) optional+=("${bench_packages[@]}") ;;
    clients) optional+=("${client_packages[@]}") ;;
    failover) optional+=("${failover_packages[@]}") ;;
    packages) optional+=("${package_packages[@]}") ;;
    machines) optional+=("${package_packages[@]}" "${machine_packages[@]}") ;;
    domain) optional+=("${domain_packages[@]}") ;;
    test)
        optional+=("${test_packages[@]}" "${domain_packages[@]}")
        node=yes
        ;;
    *) say "unknown list '$what'"; exit 2 ;;
    esac
done
install "${required[@]}" -- "${optional[@]}"
[ $node = no ] || { node_packages tests/drivers/node; node_packages tests/web/browser; }
