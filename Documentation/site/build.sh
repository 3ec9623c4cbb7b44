#!/usr/bin/env bash
# Builds the documentation as one site that opens from disk: build.sh FOLDER makes FOLDER/site/index.html
#
# Needs the release library and Doxygen. The guides are rendered from Markdown, satchel.h by Doxygen, the Python package
# by pdoc, and the Swift modules from what DocC makes of their symbol graphs, for which the package manager brings their
# debug build up to date. DocC's own site needs a web server.
set -euo pipefail
cd "$(dirname "$0")/../.."

folder=$(realpath -m "$1")
site=$folder/site
python=.venv-site/bin/python
modules=(Satchel SatchelCatalogue SatchelStories SatchelTwee SatchelPhotos SatchelRecords SatchelState SatchelDocuments
  SatchelSync SatchelRemote SatchelJSON SatchelFoundation)

if ! cmp -s Documentation/site/requirements.txt .venv-site/requirements.txt; then
  python3 -m venv --clear .venv-site
  $python -m pip install --quiet --disable-pip-version-check --requirement Documentation/site/requirements.txt
  cp Documentation/site/requirements.txt .venv-site/
fi

rm -rf "$site" "$folder/xml" "$folder/graphs" "$folder/docc"
mkdir -p "$site" "$folder/graphs"

echo "docs: satchel.h"
(cat Documentation/site/Doxyfile; echo "OUTPUT_DIRECTORY = $site") | SATCHEL_DOXYGEN_OUT=$site doxygen -
mv "$site/xml" "$folder/xml"

echo "docs: Swift, with a debug build where there is none"
# It builds all but the tests, and ends with an error where the modules of the tests' runner were never built: what counts
# is that the graphs of the modules below are new.
rm -rf .build-test/*/symbolgraph
swift package --scratch-path .build-test -Xswiftc -warnings-as-errors dump-symbol-graph --minimum-access-level public \
  --skip-synthesized-members > "$folder/graphs.log" 2>&1 || true
for module in "${modules[@]}"; do
  graphs=(.build-test/*/symbolgraph/"$module".symbols.json .build-test/*/symbolgraph/"$module"@*.symbols.json)
  [[ -f ${graphs[0]} ]] || { tail -n 20 "$folder/graphs.log" >&2; exit 1; }
  for graph in "${graphs[@]}"; do [[ ! -f $graph ]] || cp "$graph" "$folder/graphs/"; done
done
docc convert --additional-symbol-graph-dir "$folder/graphs" --output-dir "$folder/docc" --fallback-display-name Satchel \
  --fallback-bundle-identifier satchel --no-transform-for-static-hosting > "$folder/docc.log" 2>&1 || {
  tail -n 20 "$folder/docc.log" >&2
  exit 1
}

echo "docs: Python and the guides"
SATCHEL_LIBRARY=$PWD/.build-lib/release/libsatchel.so PYTHONPATH=Bindings/Python PYTHONDONTWRITEBYTECODE=1 \
  $python Documentation/site/build.py "$folder"
echo "docs: $site/index.html, $(find "$site" -name '*.html' | wc -l) pages, $(du -sh "$site" | cut -f1)"
