#!/usr/bin/env bash
# Scans real pictures, and compares dates and sizes with exiftool: those of Debian's source packages of exiftool, exiv2,
# libheif and Pillow, damaged ones included. Usage: run.sh PYTHON [DIRECTORY …], with more directories of pictures.
set -euo pipefail

python=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for tool in exiftool apt-get tar; do
  command -v $tool > /dev/null || {
    echo "$tool is not installed (Debian's package libimage-exiftool-perl has exiftool)" >&2
    exit 1
  }
done

source "$(dirname "$0")/../../Bindings/Packaging/debian_sources.sh"
use_debian_sources "$work" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" bookworm
cd "$work/sources"
apt-get source -qq --download-only libimage-exiftool-perl exiv2 libheif pillow > /dev/null
for archive in *.orig.tar.*; do tar -xf "$archive"; done
cd - > /dev/null

images=$work/sources
for directory in "$@"; do images=$images:$directory; done
SATCHEL_IMAGES=$images "$python" -m pytest -p no:cacheprovider -q -s Bindings/Python/tests/test_photos_exiftool.py
