#!/usr/bin/env bash
# Uses the wheel: in a fresh virtual environment, and in a root that holds the Python interpreter and little else, where
# jansson, SQLite, utf8proc and nettle cannot be loaded by name. Then installs the sdist, without a library and with one.
#
#   Tests/packages/wheel.sh [FOLDER]        Bindings/Python/dist when none is named
#
# Needs root, or user namespaces (unshare -r). PYTHON names another interpreter than python3, ONLY_FRESH=1 leaves out all
# but the first test: it then runs on systems that have nothing of Satchel but the wheel.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
python=${PYTHON:-python3}
folder=${1:-$root/Bindings/Python/dist}
wheel=$(find "$folder" -name 'satchel-*.whl')
[[ -f $wheel ]] || { echo "wheel test: no wheel in $folder; \`make wheel\` builds it" >&2; exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
export PIP_ROOT_USER_ACTION=ignore PIP_DISABLE_PIP_VERSION_CHECK=1
unset SATCHEL_LIBRARY PYTHONPATH LD_LIBRARY_PATH

# ---- A fresh virtual environment.
"$python" -m venv "$work/fresh"
"$work/fresh/bin/python" -m pip install --quiet --no-index "$wheel"
(cd "$work" && "$work/fresh/bin/python" "$here/use.py")
echo "wheel test: $(basename "$wheel") works in a fresh environment"
[[ -z ${ONLY_FRESH:-} ]] || exit 0

# ---- What it needs, and what it says about itself.
installed=$(echo "$work"/fresh/lib/python*/site-packages)
"$python" "$root/Bindings/Packaging/glibc.py" "$installed"/satchel/libsatchel.so "$installed"/satchel.libs/*.so*
"$root/.venv-wheel/bin/python" -m auditwheel show "$wheel"
for name in LICENSE LICENSE-THIRD_PARTY.txt; do
  [[ -s $(find "$installed" -path "*dist-info/licenses/$name") ]] || { echo "wheel test: no $name" >&2; exit 1; }
done
sed -n '3,/^$/p' "$installed"/satchel-*.dist-info/licenses/LICENSE-THIRD_PARTY.txt
if [[ -f $root/.build-sqlite/libsqlite3.so.0 ]]; then
  (cd "$work" && "$work/fresh/bin/python" -c '
import satchel
info = satchel.open(":memory:").info()
assert not info.sqlite_wal_reset_bug, f"the wheel carries SQLite {info.sqlite_version}"')
fi

# ---- A bare root.
jail=$work/jail

# Libraries of the wheel must not come from here; what every manylinux system has may.
carried='^lib(jansson|sqlite3|utf8proc|nettle|satchel)'
system='^(ld-linux|libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+)[-0-9._a-z]*so'

# carry_needs FILE PATTERN: copies the libraries that FILE asks for to the same paths in the root, as far as
# their names match.
carry_needs() {
  local needed name
  { ldd "$1" | grep -o '/[^ ]*' || true; } | while read -r needed; do
    case $needed in "$jail"/*) continue ;; esac
    name=$(basename "$needed")
    if grep -Eq "$carried" <<< "$name" || ! grep -Eq "$2" <<< "$name"; then continue; fi
    mkdir -p "$jail$(dirname "$needed")"
    cp -L "$needed" "$jail$needed"
  done
}

interpreter=$("$python" -c 'import os, sys; print(os.path.realpath(sys.executable))')
home=$("$python" -c 'import sys; print(sys.base_prefix)')
modules=$("$python" -c 'import os; print(os.path.dirname(os.path.realpath(os.__file__)))')

mkdir -p "$jail/tmp" "$jail$modules" "$jail$(dirname "$interpreter")"
cp "$interpreter" "$jail$interpreter"
carry_needs "$interpreter" .
tar cf - -C "$modules" --exclude=site-packages --exclude=dist-packages --exclude=./test --exclude=idlelib \
  --exclude=ensurepip --exclude=__pycache__ --exclude='config-*' --exclude='_sqlite3.*' . |
  tar xf - -C "$jail$modules"
for module in "$jail$modules"/lib-dynload/*.so; do carry_needs "$modules/lib-dynload/$(basename "$module")" .; done

"$python" -m pip install --quiet --no-index --no-deps --no-compile --target "$jail/site" "$wheel"
carry_needs "$jail/site/satchel/libsatchel.so" "$system"
cp "$here/bare.py" "$here/use.py" "$jail/"

enter=$(command -v chroot || echo /usr/sbin/chroot)
[[ $(id -u) == 0 ]] || enter="unshare -r $enter"
# shellcheck disable=SC2086 # words are wanted here
env -i PYTHONHOME="$home" PYTHONPATH=/site PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 PATH="$PATH" \
  $enter "$jail" "$interpreter" /bare.py

# ---- The sdist: it carries the licence, says how to get a library, and takes one.
sdist=$(find "$folder" -name 'satchel-*.tar.gz')
tar -tzf "$sdist" > "$work/listed"
grep -q '/LICENSE$' "$work/listed" || { echo "wheel test: the sdist has no LICENSE" >&2; exit 1; }
"$python" -m venv --system-site-packages "$work/sources"
"$work/sources/bin/python" -m pip install --quiet --requirement "$root/Bindings/Python/wheel-requirements.txt"
install_sdist() { "$work/sources/bin/python" -m pip install --no-build-isolation --no-index "$sdist" > "$work/said" 2>&1; }

if "$python" -c 'import ctypes.util, sys; sys.exit(ctypes.util.find_library("satchel") is not None)'; then
  if install_sdist; then echo "wheel test: the sdist was installed without a library" >&2; exit 1; fi
  grep -q "SATCHEL_LIBRARY=/path/to/libsatchel.so pip install" "$work/said" || { cat "$work/said" >&2; exit 1; }
fi
SATCHEL_LIBRARY=$root/.build-lib/stage/libsatchel.so install_sdist || { cat "$work/said" >&2; exit 1; }
(cd "$work" && "$work/sources/bin/python" "$here/use.py")
echo "wheel test: the sdist has the licence, asks for a library, and carries the one that it is given"
