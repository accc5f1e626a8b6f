#!/usr/bin/env bash
# Installs the real counterparts that the tests run against, from Debian's packages. Needs root or sudo.
# Packaged services are not left running: every test starts its own server on a spare loopback port and ends it.
set -euo pipefail

packages=(nginx-light)

missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${Status}\n' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
    echo "setup: everything is there (${packages[*]})"
    exit 0
fi

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)

# A policy that forbids the start of services while the packages are unpacked, unless the machine has its own.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
    "${as_root[@]}" chmod +x "$policy"
    trap '"${as_root[@]}" rm -f "$policy"' EXIT
fi

"${as_root[@]}" apt-get update
DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install --yes --no-install-recommends "${missing[@]}"
echo "setup: installed ${missing[*]}"
