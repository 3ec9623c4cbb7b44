#!/usr/bin/env bash
# Builds and runs the travel guides in C, Python and Swift, and looks at what they say.
# With --show (`make demo`) a person sees their output, and nothing is counted.
set -uo pipefail
cd "$(dirname "$0")/../.."

root=$PWD
places=$root/Tests/Fixtures/places.jsonl
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
show=${1:-}
passed=0
failed=0

guide_c() {
  gcc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -O2 -I"$root/Include" \
    "$root/Examples/C/guide.c" -o "$folder/guide" -L"$root/.build-lib/release" \
    -Wl,-rpath,"$root/.build-lib/release" -lsatchel -ljansson && "$folder/guide" "$places"
}

guide_python() {
  SATCHEL_LIBRARY=$root/.build-lib/release/libsatchel.so PYTHONPATH=$root/Bindings/Python PYTHONDONTWRITEBYTECODE=1 \
    python3 "$root/Examples/Python/guide.py" "$places"
}

guide_swift() {
  swift build --quiet --package-path "$root/Examples/Swift" --scratch-path "$root/.build-example" \
    && "$root/.build-example/debug/guide" "$places"
}

# Each guide runs in a folder of its own, so that it finds and leaves nothing.
run() {
  local name=$1 title=$2 output="$folder/$1.txt"
  mkdir -p "$folder/$name" && pushd "$folder/$name" > /dev/null || exit 1
  if [[ $show ]]; then
    printf '\n---- %s ----\n\n' "$title"
    "guide_$name" || failed=$((failed + 1))
  else
    check "$name runs" "guide_$name" > "$output"
    # What each guide has to speak of: a town of the data, and the day that passed.
    check "$name speaks of what expired" grep -qi 'expired' "$output"
    check "$name shows a section of the data" grep -q 'Porto' "$output"
    check "$name leaves no file" [ -z "$(ls -A)" ]
  fi
  popd > /dev/null || exit 1
}

check() {
  local what=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    echo "examples: not so: $what" >&2
    failed=$((failed + 1))
  fi
}

run c "C: Examples/C/guide.c"
run python "Python: Examples/Python/guide.py"
run swift "Swift: Examples/Swift"

[[ $show ]] || echo "$passed passed, $failed failed"
((failed == 0))
