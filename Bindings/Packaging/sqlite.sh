#!/usr/bin/env bash
# Builds a newer SQLite than Debian stable has, without SQLite's WAL-reset bug: sqlite.sh FOLDER
# The Python wheel carries it, and `make test-sqlite` runs the suites on it.
#
# Takes Debian's newest source package, with Debian's patches and options, and leaves in FOLDER libsqlite3.so.0, its
# copyright, and the file `version`, which names the package and the hashes of its files and of the library. The system's
# package sources are not touched: apt gets its own lists, and verifies the archive's signature with Debian's keyring.
# A version that was removed from the archive is replaced by the newest one, with a warning; when none can be had, what
# was built before stays, with a warning, or the status is 1.
set -euo pipefail

# The version on which the suites are known to pass. SQLITE_PACKAGE names another; "newest" takes what the archive has.
pinned=${SQLITE_PACKAGE:-3.53.4-2}
mirror=${SQLITE_MIRROR:-http://deb.debian.org/debian}

mkdir -p "$1"
folder=$(cd "$1" && pwd)
if [[ -f $folder/libsqlite3.so.0 && -f $folder/copyright && $pinned != newest ]] && grep -qx "package $pinned" "$folder/version"; then
  cat "$folder/version"
  exit 0
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fall_back() {
  echo "warning: $1" >&2
  if [[ -f $folder/libsqlite3.so.0 ]]; then
    echo "warning: the SQLite that was built before is used" >&2
    cat "$folder/version"
    exit 0
  fi
  exit 1
}

for tool in apt-get dpkg-source gcc make tclsh; do
  command -v $tool > /dev/null || fall_back "$tool is not installed (Debian's packages dpkg-dev, gcc, make, tcl)"
done

source "$(dirname "$0")/debian_sources.sh"
use_debian_sources "$work" "$mirror" sid || fall_back "the lists of $mirror cannot be fetched"

cd "$work/sources"
if [[ $pinned == newest ]] || ! apt-get source -qq --only-source "sqlite3=$pinned" > "$work/source.log" 2>&1; then
  [[ $pinned == newest ]] || echo "warning: sqlite3 $pinned is no longer in the archive; the newest one is taken" >&2
  apt-get source -qq --only-source sqlite3 > "$work/source.log" 2>&1 || {
    cat "$work/source.log" >&2
    fall_back "the source package cannot be fetched"
  }
fi
package=$(sed -n 's/^Version: //p' ./*.dsc | head -n 1)

# Debian's options: what its rules add to the compiler's flags, and what they ask of configure.
cd ./*/
read -r -a options <<< "$(sed -n '/^export CFLAGS/,/[^\\]$/p' debian/rules | grep -o -- '-D[A-Z0-9_=]*' | tr '\n' ' ')"
options+=(-DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_MATH_FUNCTIONS)
{
  ./configure --disable-tcl --enable-threadsafe --enable-load-extension --enable-fts4 --enable-fts5 &&
    make sqlite3.c
} > "$work/build.log" 2>&1 || {
  tail -n 30 "$work/build.log" >&2
  fall_back "sqlite3 $package cannot be built"
}
gcc -shared -fPIC -O2 -fno-strict-aliasing "${options[@]}" sqlite3.c -o "$work/libsqlite3.so.0" \
  -Wl,-soname,libsqlite3.so.0 -Wl,--as-needed -lm -ldl -lpthread

mv "$work/libsqlite3.so.0" "$folder/libsqlite3.so.0"
cp debian/copyright "$folder/copyright"
{
  echo "package $package"
  (cd "$work/sources" && sha256sum ./*.dsc ./*.tar.*)
  (cd "$folder" && sha256sum libsqlite3.so.0)
  echo "options ${options[*]}"
} > "$folder/version"
cat "$folder/version"
