#!/usr/bin/env bash
# Builds and runs the examples in C, Python and Swift, and looks at what they say: the travel guide measures, and
# so says something else each time; the others say the same in every language, as in shelf.txt, album.txt,
# gallery.txt and planner.txt.
# With --show (`make demo`) a person sees what they say in C, and whether the others say the same; nothing is counted.
set -uo pipefail
cd "$(dirname "$0")/../.."

root=$PWD
library=$root/.build-lib/release
places=$root/Tests/Fixtures/places.jsonl
stories=$root/Examples/Stories
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
show=${1:-}
passed=0
failed=0

# Each takes the name of an example and its argument.
run_c() {
  gcc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -O2 -I"$root/Include" \
    "$root/Examples/C/$1.c" -o "$folder/$1" -L"$library" -Wl,-rpath,"$library" -lsatchel \
    && "$folder/$1" "$2"
}

run_python() {
  SATCHEL_LIBRARY=$library/libsatchel.so PYTHONPATH=$root/Bindings/Python PYTHONDONTWRITEBYTECODE=1 \
    python3 "$root/Examples/Python/$1.py" "$2"
}

run_swift() {
  # Messages of the compiler are no part of what the example says. An app's package, which imports the library by path.
  "$root/Scripts/build.sh" app "$root/Examples/Swift" >&2 && "$root/.build-test/debug/$1" "$2"
}

# Each example runs in a folder of its own, so that it finds and leaves nothing.
run() {
  local example=$1 language=$2 input=$3 source=$4 output="$folder/$1-$2.txt"
  local expected=$root/Tests/examples/$1.txt
  [[ $example != gallery ]] || make_photos "$folder/$example-$language/$input"
  mkdir -p "$folder/$example-$language" && pushd "$folder/$example-$language" > /dev/null || exit 1
  if [[ $show ]]; then
    [[ $language != swift || -x $root/.build-test/debug/$example ]] || echo "Building the examples in Swift, which takes some minutes."
    if [[ $language == c ]]; then
      printf '\n---- %s ----\n\n' "$source"
      "run_$language" "$example" "$input" || failed=$((failed + 1))
    elif ! "run_$language" "$example" "$input" > "$output"; then
      failed=$((failed + 1))
    elif [[ ! -f $expected ]]; then
      # It measures, so that only its words are the same.
      check_guide "$source" "$output" && printf '\n%s says so too, with times of its own.\n' "$source"
    elif diff "$expected" "$output"; then
      printf '\n%s says the same, word by word.\n' "$source"
    else
      failed=$((failed + 1))
    fi
  else
    check "$source runs" "run_$language" "$example" "$input" > "$output"
    check "$source leaves no other file" [ -z "$(ls -A --ignore="$input")" ]
    if [[ -f $expected ]]; then
      check "$source says what the others say" diff "$expected" "$output"
    else
      check_guide "$source" "$output"
    fi
  fi
  popd > /dev/null || exit 1
}

# The photos of the demo, and one that the library cannot decode.
make_photos() {
  mkdir -p "$1" && cp "$root"/Sources/satchel-cli/Demo/Photos/*.jpg "$1"
  printf '\0\0\0\x18ftypheic\0\0\0\0mif1heic' > "$1/tram.heic"
}

# The subjects of each guide: a town of the data, and the day that passed.
check_guide() {
  local before=$failed
  check "$1 speaks of what expired" grep -qi 'expired' "$2"
  check "$1 shows a section of the data" grep -q 'Porto' "$2"
  check "$1 fetches pictures" grep -qx 'Fetched 2 pictures, 65000 bytes.' "$2"
  check "$1 prunes pictures" grep -qx '  ribeira  remote' "$2"
  ((failed == before))
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

# The album and the planner make the folder that they are given.
for example in "guide $places" "shelf $stories" "album album" "gallery photos" "planner planner"; do
  read -r name input <<< "$example"
  run "$name" c "$input" "Examples/C/$name.c"
  run "$name" python "$input" "Examples/Python/$name.py"
  run "$name" swift "$input" "Examples/Swift/Sources/$name"
done

[[ $show ]] || echo "$passed passed, $failed failed"
((failed == 0))
