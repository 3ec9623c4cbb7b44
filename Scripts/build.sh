#!/usr/bin/env bash
# Builds: build.sh lib | tool | suites | app PACKAGE [ARGUMENT…]
#
# There are two builds. The release build, below .build-lib, has the library for C and Python and the tool: one set of
# flags for compiling, so that no module is compiled twice, and two for linking. The debug build, below .build-test, has
# the Swift suites and every package that imports Satchel by path as an app does: the examples, and the code of the
# guides. Builds with the same flags share what they compiled; builds with others would undo each other.
set -euo pipefail
cd "$(dirname "$0")/.."

build=.build-lib
suites=.build-test
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
soname=libsatchel.so.${version%%.*}
staged=$build/stage/libsatchel.so.$version
# Package.swift must not have linker flags: a package with unsafe flags cannot be imported by others.
flags=()

swiftc() { local flag; for flag in "$@"; do flags+=(-Xswiftc "$flag"); done; }
frontend() { local flag; for flag in "$@"; do flags+=(-Xswiftc -Xfrontend -Xswiftc "$flag"); done; }
linker() { local flag; for flag in "$@"; do flags+=(-Xlinker "$flag"); done; }

# How the modules of library and tool are compiled, and what linking both has in common.
release() {
  swiftc -warnings-as-errors
  # For size, which costs some 6 % of time.
  swiftc -Osize -cross-module-optimization
  # The Swift runtime is inside: apps need not have it.
  swiftc -static-stdlib -Xclang-linker -static-libgcc
  # Functions that only Swift apps call are left out: one async function brings Swift's concurrency and libdispatch
  # along, 0.8 MB.
  swiftc -DSATCHEL_WITHOUT_CONCURRENCY
  # Overlapping accesses to one variable are a fault of the library that its suites find, which are built with the
  # checks: here a check would end the host app. 1 % of the library.
  swiftc -enforce-exclusivity=unchecked
  # The lines of call stacks, without variables for a debugger: 4 % less time of building.
  swiftc -gline-tables-only
  # Types are asked for by function and not by name: the runtime would search all conformances for each type of key of
  # a dictionary.
  frontend -disable-concrete-type-metadata-mangled-name-accessors
  # One object for each module, beside empty ones, and not one for each file: what each file would have for itself is
  # there once. 0.27 MB, and half the time of building.
  frontend -enable-single-module-llvm-emission
  # Unused functions are removed, and identical ones, such as specializations, are merged.
  frontend -function-sections
  # By a script: swiftc lets no other folder precede the toolchain's.
  swiftc -use-ld=lld -Xclang-linker "--ld-path=$PWD/Scripts/lld.sh"
  linker --gc-sections --icf=all --as-needed
  # It runs with glibc 2.34 or newer: without packed relocations, which would save 0.6 MB and need 2.36, and with
  # OlderSystems.c in the place of two newer functions.
  linker "$PWD/$build/static/OlderSystems.o" --wrap=hypotf --wrap=_dl_find_object
  # The library is found by those that link it, and finds its own libraries in the system.
  flags+=(-c release --scratch-path "$build" --disable-local-rpath)
}

# Linking of the shared library.
shared() {
  # Nothing but satchel_* is exported, and nothing is missing.
  linker --version-script=Include/satchel.map -z defs -soname "$soname"
  # The Swift runtime cannot be unloaded: threads that end later run its functions.
  linker -z nodelete
  # Strings share their tails, 4 KB.
  linker -O2
  # Zeros that need no space in the file, 64 KB.
  linker Sources/Link/backtrace.ld
  linker "$PWD/$build/static/ScalarNames.o" --defsym=_swift_stdlib_getScalarName=satchel_no_scalar_name
  # Tables for unwinding stay in, an eighth of the library: a host's crash report shows its own frames below ours.
  # Functions and data of an app's start are adjacent, so that a start touches fewer pages: a process with an open store
  # has 8.0 instead of 10.4 MB in memory, and starts 5 % sooner.
  linker "--symbol-ordering-file=$PWD/$build/start.order" --no-warn-symbol-ordering
}

static_parts() {
  local part
  mkdir -p $build/static
  # Only the archive of the C++ library, which the Swift runtime needs.
  ln -sf "$(gcc -print-file-name=libstdc++.a)" $build/static/libstdc++.a
  collectable_runtime
  for part in OlderSystems ScalarNames; do
    [[ $build/static/$part.o -nt Sources/Link/$part.c ]] \
      || gcc -O2 -fPIC -Wall -Wextra -c "Sources/Link/$part.c" -o "$build/static/$part.o"
  done
}

# The archive of the Swift runtime, without what nothing refers to: 7 % of the library, 3 % by the rows of our own, and
# 5 % by functions that are removed one by one and lie side by side without gaps.
collectable_runtime() {
  local toolchain archive=$build/static/libswiftCore.a
  toolchain=$(dirname "$(readlink -f "$(type -P swiftc)")")/../lib/swift_static/linux/libswiftCore.a
  [[ ! $archive -nt $toolchain || ! $archive -nt Scripts/collectable.py || ! $archive -nt Scripts/split.py ]] \
    || return 0
  (
    cd $build/static
    ar x "$toolchain" Swift.o
    python3 ../../Scripts/split.py Swift.o
    python3 ../../Scripts/collectable.py Swift.o
    cp "$toolchain" new.a && ar r new.a Swift.o && mv new.a libswiftCore.a && rm Swift.o
  )
}

build_lib() {
  release
  shared
  static_parts
  # Optimizing across modules, the compiler builds layouts of one module into another, and the package manager does not
  # build the other again when they change: nothing of ours is kept that an older source may have shaped.
  rm -f $build/*/release/Satchel*.build/*.o
  python3 Bindings/Python/generate.py
  # Linked twice: the functions of a start are known when it has run.
  : > $build/start.order
  link_lib
  # Without the names of members, 0.1 MB, which only the library for C and Python can do without.
  python3 Scripts/collectable.py --unreflected $build/*/release/Satchel*.build/*.o
  PYTHONPATH=Bindings/Python python3 Scripts/order.py $build/release/libsatchel.so $build/start.order
  link_lib
  rm -rf $build/stage && mkdir -p $build/stage
  strip --strip-unneeded -o "$staged" $build/release/libsatchel.so
  ln -s "libsatchel.so.$version" "$build/stage/$soname" && ln -s "$soname" $build/stage/libsatchel.so
  echo "$staged: $(stat -c %s "$staged") bytes"
}

link_lib() {
  rm -f $build/release/libsatchel.so
  SATCHEL_TOOL=1 swift build "${flags[@]}" --product satchel
  ln -sf libsatchel.so "$build/release/$soname"
}

build_tool() {
  release
  static_parts
  SATCHEL_TOOL=1 swift build "${flags[@]}" --product satchel-cli
}

build_suites() { debug --build-tests; }

# Without the tool: apps do not have it, and it is tested as it is released. Each module is compiled at once, with the
# lines of call stacks but no variables for a debugger: a quarter less processor time.
debug() {
  swiftc -warnings-as-errors -disable-batch-mode -whole-module-optimization -num-threads 2 -gline-tables-only
  env -u SATCHEL_TOOL swift build --scratch-path "$PWD/$suites" "${flags[@]}" "$@"
}

# timed BUILD: adds a line with the seconds that it took, for the summary of the tests.
timed() {
  local TIMEFORMAT='%R %U %S'
  mkdir -p $suites/logs
  { time "$1" 2>&3; } 3>&2 2>> "$suites/logs/$1.time"
}

what=$1
shift
case $what in
  lib | tool | suites) timed "build_$what" ;;
  # A package that imports Satchel by path, beside the suites.
  app) debug --quiet --package-path "$@" ;;
  *) echo "build.sh does not know $what" >&2; exit 2 ;;
esac
