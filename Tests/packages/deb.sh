#!/usr/bin/env bash
# Uses the Debian packages: deb.sh FOLDER
#
# Unpacks them into a folder, and runs a C program, a Python program and the tool against what is there. With INSTALL=1,
# as root on Debian or Ubuntu, it installs them instead, does the same, removes them and looks for what they leave.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=$(find "$(realpath "$1")" -maxdepth 1 -name '*.deb')
[[ $(wc -l <<< "$packages") == 4 ]] || { echo "deb test: not four packages in $1; \`make deb\` builds them" >&2; exit 1; }
work=$(mktemp -d)
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
names=(libsatchel0 libsatchel-dev satchel python3-satchel)
library=/usr/lib/$(gcc -print-multiarch)
use=$PWD/Tests/packages/use.py
unset LD_LIBRARY_PATH SATCHEL_LIBRARY PYTHONPATH PKG_CONFIG_PATH

clean_up() {
  [[ -z ${installed:-} ]] || DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq "${names[@]}" > /dev/null
  rm -rf "$work"
}
trap clean_up EXIT

if [[ ${INSTALL:-} == 1 ]]; then
  installed=yes
  # shellcheck disable=SC2086 # words are wanted here
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $packages > /dev/null
  root=
else
  root=$work/root
  for package in $packages; do dpkg-deb -x "$package" "$root"; done
  export LD_LIBRARY_PATH=$root$library PYTHONPATH=$root/usr/lib/python3/dist-packages
  export PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_PATH=$root$library/pkgconfig
fi

[[ $(pkg-config --modversion satchel) == "$version" ]]
# shellcheck disable=SC2046 # words are wanted here
gcc -std=c99 -Wall -Wextra -Werror Tests/install/hello.c -o "$work/hello" $(pkg-config --cflags --libs satchel)
"$work/hello" | grep "^satchel $version: \[.*\"section\":\"facts\""
cmake -S Tests/install -B "$work/cmake" -DCMAKE_PREFIX_PATH="$root/usr" > "$work/log"
cmake --build "$work/cmake" > "$work/log"
"$work/cmake/hello" | grep -F "satchel $version"

"$root/usr/bin/satchel" --version | grep -F "$version"
# The interpreter of the system: another one has a folder of its own for packages.
(cd "$work" && PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 "$use" "$version" | tee "$work/said")
grep -q 'libsatchel.so.0$' "$work/said"

if [[ -n ${installed:-} ]]; then
  DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq "${names[@]}" > /dev/null
  installed=
  left=$(find /usr/include /usr/lib /usr/bin /usr/share -name '*satchel*' -path '/usr/*' 2> /dev/null || true)
  [[ -z $left ]] || { echo "deb test: left behind: $left" >&2; exit 1; }
fi
echo "deb test: ${names[*]} work${root:+, unpacked}"
