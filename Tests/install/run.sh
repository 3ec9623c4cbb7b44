#!/usr/bin/env bash
# Installs into a folder of its own and uses what lies there: through pkg-config, through CMake, and as a
# Swift package by path and by URL and version.
set -uo pipefail
cd "$(dirname "$0")/../.."
# Installing is a build of its own, not a part of the `make test` that may run this beside others.
unset MAKEFLAGS MFLAGS MAKELEVEL

root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/prefix
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
passed=0
failed=0

# Runs a command, quietly when it succeeds.
check() {
  local what=$1
  shift
  if "$@" > "$folder/log" 2>&1; then
    echo "$what: fine"
    passed=$((passed + 1))
  else
    echo "$what: failed" >&2
    cat "$folder/log" >&2
    failed=$((failed + 1))
  fi
}

greets() {
  "$@" | grep -q "^satchel $version: \[.*\"section\":\"facts\""
}

with_pkg_config() {
  export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
  [[ $(pkg-config --modversion satchel) == "$version" ]] || return 1
  # shellcheck disable=SC2046 # words are wanted here
  gcc -std=c99 -Wall -Wextra -Werror Tests/install/hello.c -o "$folder/hello" $(pkg-config --cflags --libs satchel) \
    && LD_LIBRARY_PATH=$prefix/lib greets "$folder/hello"
}

with_cmake() {
  cmake -S Tests/install -B "$folder/cmake" -DCMAKE_PREFIX_PATH="$1" && cmake --build "$folder/cmake" \
    && greets "$folder/cmake/hello"
  local status=$?
  rm -rf "$folder/cmake"
  return $status
}

# Whether CMake finds what was installed when a program asks for a version.
fits() {
  rm -rf "$folder/asked"
  mkdir "$folder/asked" && sed "s/Satchel 0.1/Satchel $1/" Tests/install/CMakeLists.txt \
    > "$folder/asked/CMakeLists.txt" && cp Tests/install/hello.c "$folder/asked/"
  cmake -S "$folder/asked" -B "$folder/asked/build" -DCMAKE_PREFIX_PATH="$prefix"
}

# The rule is that of the SONAME: the same major version, and none that is newer.
follows_the_soname() {
  local major=${version%%.*} other
  readelf -d "$prefix/lib/libsatchel.so" | grep -q "SONAME.*\[libsatchel.so.$major\]" || return 1
  fits "$major.0" && fits "$version" || return 1
  for other in "$((major + 1)).0" "$major.99" "${version%.*}.99"; do ! fits "$other" || return 1; done
}

# package NAME DEPENDENCY: one of two small programs, which depend on Satchel and on its reader of JSON.
package() {
  local name=$1 dependency=$2
  mkdir -p "$folder/$name/Sources/hello" "$folder/$name/Sources/reads"
  cat > "$folder/$name/Package.swift" << END
// swift-tools-version: 6.1
import PackageDescription

let package = Package(
  name: "hello",
  platforms: [.macOS(.v15)],
  dependencies: [$dependency],
  targets: [
    .executableTarget(name: "hello", dependencies: [.product(name: "Satchel", package: "Satchel")]),
    .executableTarget(name: "reads", dependencies: [.product(name: "SatchelJSON", package: "Satchel")]),
  ]
)
END
  cat > "$folder/$name/Sources/hello/main.swift" << 'END'
import Satchel

let store = try Store(path: ":memory:")
print(try store.catalogue.sections(at: Location(countryCode: "fr")).count)
END
  cat > "$folder/$name/Sources/reads/main.swift" << 'END'
import SatchelJSON

print(try JSONValue.array([1, 2]).text)
END
}

# Beside the suites, so that the library is not compiled again.
by_path() {
  package by-path ".package(name: \"Satchel\", path: \"$root\")"
  Scripts/build.sh app "$folder/by-path" --product hello && [[ $(.build-test/debug/hello) == 0 ]]
}

# The package manager checks all that a package depends on before it compiles anything: so only a part is compiled, of
# sources that were all compiled by path.
by_url() {
  package by-url ".package(url: \"file://$folder/origin/Satchel\", from: \"$version\")"
  [[ $(env -u SATCHEL_TOOL swift run --quiet --package-path "$folder/by-url" reads) == "[1,2]" ]] || return 1
  local checkout=$folder/by-url/.build/checkouts/Satchel part
  for part in Package.swift Include Sources; do diff -r "$part" "$checkout/$part" || return 1; done
}

# An app that imports the library does not fetch what the tool depends on.
fetches_nothing_else() {
  [[ $(ls "$folder/by-url/.build/checkouts") == Satchel ]]
}

# The tree as it is, committed and tagged in a repository elsewhere.
tagged_copy() (
  mkdir -p "$folder/origin/Satchel" && git ls-files -z --cached --others --exclude-standard \
    | while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done \
    | tar --null -T - -c | tar -x -C "$folder/origin/Satchel" || return 1
  cd "$folder/origin/Satchel" && git init --quiet && git add --all \
    && git -c user.name=Satchel -c user.email=satchel@localhost commit --quiet -m "$version" && git tag "$version"
)

nothing_left() {
  [[ -z $(find "$prefix" -not -type d) ]]
}

check "make install" make --no-print-directory install PREFIX="$prefix"
check "links: .so, soname, version" test "$(readlink -f "$prefix/lib/libsatchel.so")" = "$prefix/lib/libsatchel.so.$version"
check "pkg-config" with_pkg_config
check "CMake" with_cmake "$prefix"
check "CMake accepts and refuses versions by the SONAME" follows_the_soname
check "nothing newer than glibc 2.34" python3 Bindings/Packaging/glibc.py "$prefix/lib/libsatchel.so" "$prefix/bin/satchel"
check "DESTDIR" make --no-print-directory install PREFIX=/usr DESTDIR="$folder/destination"
check "CMake, moved tree" with_cmake "$folder/destination/usr"
check "make uninstall" make --no-print-directory uninstall PREFIX="$prefix"
check "nothing is left" nothing_left

check "Swift package by path" by_path
check "a tagged copy of the repository" tagged_copy
check "Swift package by URL and version" by_url
check "an app fetches nothing but the library" fetches_nothing_else

echo "$passed passed, $failed failed"
((failed == 0))
