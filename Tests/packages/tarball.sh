#!/usr/bin/env bash
# Unpacks the tarball, moves the tree, and uses it from there: pkg-config, CMake, the tool: tarball.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

archive=$(find "$1" -name 'satchel-*.tar.gz')
[[ -f $archive ]] || { echo "tarball test: no archive in $1; \`make tarball\` builds it" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
unset LD_LIBRARY_PATH SATCHEL_LIBRARY

greets() { "$1" | grep "^satchel $version: \[.*\"section\":\"facts\""; }

(cd "$1" && sha256sum --check --quiet ./*.sha256)
mkdir "$work/unpacked"
tar -xzf "$archive" -C "$work/unpacked"
tree=$work/moved
mv "$work"/unpacked/satchel-* "$tree"
for file in README.md LICENSE LICENSE-THIRD_PARTY.txt CHANGELOG.md share/man/man1/satchel.1 share/doc/satchel/c-api.md; do
  [[ -s $tree/$file ]] || { echo "tarball test: $file is missing" >&2; exit 1; }
done
! grep -rIl "$PWD\|$work" "$tree" || { echo "tarball test: these files name the build's folders" >&2; exit 1; }

export PKG_CONFIG_PATH=$tree/lib/pkgconfig
[[ $(pkg-config --modversion satchel) == "$version" ]]
# shellcheck disable=SC2046 # words are wanted here
gcc -std=c99 -Wall -Wextra -Werror Tests/install/hello.c -o "$work/hello" $(pkg-config --cflags --libs satchel) \
  -Wl,-rpath,"$(pkg-config --variable=libdir satchel)"
greets "$work/hello"

cmake -S Tests/install -B "$work/cmake" -DCMAKE_PREFIX_PATH="$tree" > "$work/log"
cmake --build "$work/cmake" > "$work/log"
greets "$work/cmake/hello"

"$tree/bin/satchel" --version | grep -F "$version"
python3 Bindings/Packaging/glibc.py "$tree/lib/libsatchel.so" "$tree/bin/satchel"
echo "tarball test: $(basename "$archive") works where it was moved"
