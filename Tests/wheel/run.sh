#!/bin/sh
# Proves that the wheel needs nothing of the system but the C library: installs it into a root that holds
# the Python interpreter and little else, proves there that jansson, SQLite, utf8proc and nettle cannot be
# loaded by name, and then persists, lists and loads a section.
#
#   Tests/wheel/run.sh [WHEEL]        the newest of Bindings/Python/dist when none is named
#
# Needs root, or user namespaces (unshare -r). PYTHON names another interpreter than python3.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
wheel=${1:-$(ls -t "$here"/../../Bindings/Python/dist/satchel-*.whl 2>/dev/null | head -n 1)}
[ -f "$wheel" ] || { echo "wheel test: no wheel; run Bindings/Python/build_wheel.py first" >&2; exit 1; }

jail=$(mktemp -d)
trap 'rm -rf "$jail"' EXIT
trap 'exit 1' INT TERM

# What the wheel brings along must not come from here; what every manylinux system has may.
carried='^lib(jansson|sqlite3|utf8proc|nettle|satchel)'
system='^(ld-linux|libc|libm|libdl|libpthread|librt|libutil|libgcc_s|libstdc\+\+)[-0-9._a-z]*so'

# carry_needs FILE PATTERN: copies the libraries that FILE asks for to the same paths in the root, as far as
# their names match.
carry_needs() {
  ldd "$1" | grep -o '/[^ ]*' | while read -r needed; do
    case $needed in "$jail"/*) continue ;; esac
    name=$(basename "$needed")
    if echo "$name" | grep -Eq "$carried" || ! echo "$name" | grep -Eq "$2"; then continue; fi
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
for module in "$modules"/lib-dynload/_ctypes.*.so; do
  [ ! -f "$module" ] || carry_needs "$module" .
done

PIP_ROOT_USER_ACTION=ignore "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-compile \
  --target "$jail/site" "$wheel"
carry_needs "$jail/site/satchel/libsatchel.so" "$system"
cp "$here/inside.py" "$jail/inside.py"

enter=$(command -v chroot || echo /usr/sbin/chroot)
[ "$(id -u)" -eq 0 ] || enter="unshare -r $enter"
env -i PYTHONHOME="$home" PYTHONPATH=/site PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 PATH="$PATH" \
  $enter "$jail" "$interpreter" /inside.py
