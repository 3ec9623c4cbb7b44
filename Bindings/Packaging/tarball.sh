#!/usr/bin/env bash
# Packs what `make lib tool` has built into an archive that can be unpacked anywhere: tarball.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/../.."

version=$(sed -n 's/^#define SATCHEL_VERSION_STRING "\(.*\)"/\1/p' Include/satchel.h)
name=satchel-$version-linux-$(uname -m)
folder=$(realpath -m "$1")
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

rm -rf "$folder"
mkdir -p "$folder"
# shellcheck disable=SC2016 # pkg-config expands it
make --no-print-directory install "DESTDIR=$folder" "PREFIX=/$name" 'PC_PREFIX=$${pcfiledir}/../..' > "$folder/log"
cp LICENSE CHANGELOG.md "$folder/$name/"
sed "s/@VERSION@/$version/g" Bindings/Packaging/tarball.md > "$folder/$name/README.md"
python3 Bindings/Packaging/third_party.py --tool > "$folder/$name/LICENSE-THIRD_PARTY.txt"
mkdir -p "$folder/$name/share/doc/satchel"
cp Documentation/*.md "$folder/$name/share/doc/satchel/"

# The same tree gives the same bytes.
tar -C "$folder" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -c "$name" \
  | gzip -9n > "$folder/$name.tar.gz"
(cd "$folder" && sha256sum "$name.tar.gz" | tee "$name.tar.gz.sha256")
