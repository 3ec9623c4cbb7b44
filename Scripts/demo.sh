#!/usr/bin/env bash
# `make demo`: builds the library and the tool, shows what the tool finds in the folder of `satchel demo` and in the
# example stories, runs the examples in C, Python and Swift, and leaves a folder to play with.
set -uo pipefail
cd "$(dirname "$0")/.."

cat << 'END'
Satchel keeps an app's content offline, in one SQLite file: what a backend sends for a place, catalogues of photos,
branching stories, the app's own records, and its state. Devices synchronize through an S3 bucket or a shared
directory; there is no server. It is used from C, Python and Swift, and through the tool satchel.

This builds it, which takes some minutes the first time, shows what it does, and leaves a folder to play with.
It installs missing Debian packages, naming them first; all else stays in this folder, below .build-*.

END

# quietly TARGET NAME: makes a target, and shows its output only when it fails.
quietly() {
  local log=.build-test/logs/demo-$1.log
  printf 'Building %s ... ' "$2"
  if make --no-print-directory "$1" > "$log" 2>&1; then echo done; else
    echo failed
    tail -n 60 "$log"
    exit 1
  fi
}

Scripts/setup.sh build || exit 1
Scripts/setup.sh demo || echo 'Going on without Graphviz: the pages have no graphs.' >&2
quietly lib 'the library'
quietly tool 'the command-line tool'

tool=.build-lib/bin/satchel
folder=.build-demo/satchel-demo
failed=0

heading() { printf '\n---- %s ----\n\n' "$1"; }

# show COMMAND...: a command of the tool, and its output.
show() {
  printf '$ satchel %s\n' "$*"
  "$tool" "$@" || failed=$((failed + 1))
  echo
}

mkdir -p .build-lib/bin .build-demo
ln -sf ../release/satchel-cli "$tool"
# One folder for the tour, and one that the reader finds as it was written.
rm -rf .build-demo/tour "$folder"
if ! "$tool" demo .build-demo/tour > .build-demo/tour.txt; then exit 1; fi
cd .build-demo/tour || exit 1
tool=../../$tool

heading "A travel guide, offline"
show catalogue show guide.satchel
show catalogue show guide.satchel --place PT/Porto --section cuisine
show catalogue search guide.satchel "soup"

heading "An album"
show photos query guide.satchel album --from 2026-06 --to 2026-06 --order photodate

heading "A planner: laptop and phone changed different fields of the same task"
show records get planner/laptop.satchel tasks essay
show records get planner/phone.satchel tasks essay
show sync planner/phone.satchel --user ana --remote planner/remote
show records get planner/phone.satchel tasks essay

heading "Stories, checked before a reader gets lost"
show story lint tales
cd ../.. || exit 1
tool=.build-lib/bin/satchel
printf '$ satchel story lint slip.json    # a letter is missing in one of the example stories\n'
sed 's/"nextSegmentId": "the-crane"/"nextSegmentId": "the-crne"/' Examples/Stories/urashima-taro.json > .build-demo/slip.json
(cd .build-demo && "../$tool" story lint slip.json)
(($? == 1)) || failed=$((failed + 1))
echo
show story stats Examples/Stories
show story report Examples/Stories -o .build-demo/stories.html
show report .build-demo/tour/guide.satchel -o .build-demo/guide.html
echo "Both pages are in .build-demo: open them in a browser."

heading "The examples in C, Python and Swift"
Tests/examples/run.sh --show || failed=$((failed + 1))

heading "Yours to try"
printf 'The tool:    %s\n' "$PWD/$tool"
printf 'The folder:  %s\n\n' "$PWD/$folder"
"$tool" demo "$folder" || failed=$((failed + 1))
printf '\nNext: README.md, and satchel --help.\n'
((failed == 0))
