#!/usr/bin/env bash
# Builds Debian packages of what `make lib tool` has built, and lets lintian look at them: deb.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(realpath -m "$1")
version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SATCHEL=$PWD SOURCE_DATE_EPOCH
# The calling make is another one.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

rm -rf "$folder"
mkdir -p "$folder/satchel"
cp -r Bindings/Packaging/debian Documentation README.md "$folder/satchel/"
cp CHANGELOG.md "$folder/satchel/CHANGELOG.md"
cat > "$folder/satchel/debian/changelog" << END
satchel ($version-1) unstable; urgency=medium

  * Built from the tree of Satchel $version; CHANGELOG.md has the changes.

 -- Satchel maintainers <maintainers@example.com>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
END

.venv/bin/python Bindings/Python/build_wheel.py --pure --output "$folder/wheel"
WHEEL=$(find "$folder/wheel" -name '*.whl')
export WHEEL

(cd "$folder/satchel" && dpkg-buildpackage --build=binary --no-sign) > "$folder/log" 2>&1 || {
  tail -n 40 "$folder/log" >&2
  exit 1
}
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs "$folder"/*.changes
find "$folder" -maxdepth 1 -name '*.deb' -printf '%p: %s bytes\n' | sort
