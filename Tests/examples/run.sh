#!/usr/bin/env bash
# Builds and runs the examples in C, Python and Swift, and looks at what they say: the same in every language, as in
# guide.txt, shelf.txt, album.txt, gallery.txt and planner.txt.
# With --show (`make demo`) a person sees what they say in C, and whether the others say the same; nothing is counted.
set -uo pipefail
# So that the backend, which is started here, can be waited for.
shopt -s lastpipe
cd "$(dirname "$0")/../.."

root=$PWD
library=$root/.build-lib/release
stories=$root/Examples/Stories
folder=$(mktemp -d)
backend=''
trap '[[ ! $backend ]] || kill "$backend" 2> /dev/null; rm -rf "$folder"' EXIT
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

# A copy of the guide's backend, whose files can be changed, at a free port: sets `url` and `backend`.
start_backend() {
  local line said
  rm -rf "$folder/backend" && cp -r "$root/Examples/Backend" "$folder/backend" || return
  exec {said}< <(exec python3 "$folder/backend/backend.py" --port 0 2> /dev/null)
  backend=$!
  IFS= read -r line <&"$said" && url=${line##* }
  exec {said}<&-
}

# Waits for its end: nothing answers any more.
stop_backend() {
  kill "$backend" 2> /dev/null
  wait "$backend"
}

# Runs the guide, and does what it asks for: changes its backend, and stops it.
travel() {
  local line keys status
  start_backend || return
  rm -f "$folder/keys" && mkfifo "$folder/keys" && exec {keys}<> "$folder/keys" || return
  "run_$1" guide "$url" <&"$keys" | while IFS= read -r line; do
    # Of the progress, which overwrites itself, the last is seen.
    printf '%s\n' "${line##*$'\r'}"
    [[ ! $show || $1 != c || $line != *', and press Enter.' ]] || echo '  (This script does so.)'
    case $line in
      'Change the title '*)
        sed -i 's/"Sights of Porto"/"Sights of Porto, and the tram"/' "$folder/backend/places/porto.json"
        echo >&"$keys"
        ;;
      'Stop the backend'*)
        stop_backend
        echo >&"$keys"
        ;;
    esac
  done
  status=$?
  stop_backend
  exec {keys}>&-
  return $status
}

# LANGUAGE EXAMPLE INPUT: runs an example.
speak() { if [[ $2 == guide ]]; then travel "$1"; else "run_$1" "$2" "$3"; fi; }

# The output of an example, without the port of this run, and without curl's reason with its milliseconds.
comparable() { sed -E 's#(http://127\.0\.0\.1):[0-9]+(/places: ).*#\1:8000\2no answer#' "$1"; }

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
      speak "$language" "$example" "$input" || failed=$((failed + 1))
    elif speak "$language" "$example" "$input" > "$output" && diff "$expected" <(comparable "$output"); then
      printf '\n%s says the same, word by word.\n' "$source"
    else
      failed=$((failed + 1))
    fi
  else
    check "$source runs" speak "$language" "$example" "$input" > "$output"
    check "$source leaves no other file" [ -z "$(ls -A --ignore="$input")" ]
    check "$source says what the others say" diff "$expected" <(comparable "$output")
  fi
  popd > /dev/null || exit 1
}

# The photos of the demo, and one that the library cannot decode.
make_photos() {
  mkdir -p "$1" && cp "$root"/Sources/satchel-cli/Demo/Photos/*.jpg "$1"
  printf '\0\0\0\x18ftypheic\0\0\0\0mif1heic' > "$1/tram.heic"
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

# The album and the planner make the folder that they are given; the guide is given the URL of its backend.
for example in "guide url" "shelf $stories" "album album" "gallery photos" "planner planner"; do
  read -r name input <<< "$example"
  run "$name" c "$input" "Examples/C/$name.c"
  run "$name" python "$input" "Examples/Python/$name.py"
  run "$name" swift "$input" "Examples/Swift/Sources/$name"
done

[[ $show ]] || echo "$passed passed, $failed failed"
((failed == 0))
