#!/usr/bin/env bash
# Compiles the C programs against the release library, runs each, and adds up what they counted.
# SATCHEL_CRASHES (30) sets how long crash.py takes, and SATCHEL_SECONDS (3) threads.c and library_threads.c.
set -uo pipefail
cd "$(dirname "$0")/../.."

release=$PWD/.build-lib/release
stripped=$(readlink -f .build-lib/stage/libsatchel.so)
folder=$(mktemp -d)
backend=''
trap '[[ ! $backend ]] || kill "$backend" 2> /dev/null; rm -rf "$folder"' EXIT

strict=(-Wall -Wextra -Wpedantic -Wshadow -Werror -O1 -g)
include=(-IInclude)
link=(-L"$release" -Wl,-rpath,"$release" -lsatchel)
passed=0
failed=0
failures=()

# Runs a program that closes with "N passed, N failed", and adds its counts to ours.
counted() {
  local name=$1 output status line
  shift
  output=$("$@")
  status=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' <<< "$output" | tail -n 1)
  if [[ -z $line ]]; then
    failures+=("$name ended with status $status before it counted")
    ((failed++))
    return
  fi
  printf '%-18s %s\n' "$name" "$line"
  read -r good _ bad _ <<< "$line"
  ((passed += good, failed += bad))
  if ((bad > 0)); then
    failures+=("$name: $bad checks failed")
  elif ((status != 0)); then
    failures+=("$name ended with status $status")
    ((failed++))
  fi
}

# Runs a command whose exit status is the check.
succeeds() {
  local name=$1
  shift
  if "$@"; then
    echo "$name: fine"
    ((passed++))
  else
    failures+=("$name failed: $*")
    ((failed++))
  fi
}

compile() {
  gcc -std=c99 -D_POSIX_C_SOURCE=200809L "${strict[@]}" "${include[@]}" "$1" -o "$folder/$(basename "$1" .c)" \
    "${link[@]}" -rdynamic -ljansson -lsqlite3 -lpthread
}

succeeds "header as C99" gcc -x c -std=c99 "${strict[@]}" -Wstrict-prototypes "${include[@]}" \
  Tests/C/header.c -o "$folder/header-c" "${link[@]}"
succeeds "header as C++17" g++ -x c++ -std=c++17 "${strict[@]}" "${include[@]}" \
  Tests/C/header.c -o "$folder/header-cpp" "${link[@]}"
succeeds "header run, C" "$folder/header-c"
succeeds "header run, C++" "$folder/header-cpp"

for program in vectors json_values bad_json bad_files bad_handles bad_catalogue roundtrip threads crash_writer \
  stories bad_stories library library_changes bad_library bad_library_open library_threads \
  photos photo_trash photo_sync remote bad_photos bad_photo_handles bad_remote wal_reset batches callbacks changes live_queries interrupts error_details crash_report records record_queries state store_sync continuous_sync assets asset_functions sources; do
  succeeds "compile $program" compile "Tests/C/$program.c"
done
succeeds "compile guide" compile Examples/C/guide.c
for program in Benchmarks/probes/satchel_*.c; do
  succeeds "check $(basename "$program")" gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only "${include[@]}" "$program"
done
succeeds "compile stalling_preload" gcc -shared -fPIC -std=c99 -D_POSIX_C_SOURCE=200809L "${strict[@]}" \
  Tests/C/stalling_preload.c -o "$folder/stalling_preload.so" -lsqlite3 -lpthread

for variant in vectors words; do
  flags=(-fsanitize=address,undefined -ISources/CScan/include)
  [[ $variant == vectors ]] || flags+=(-DSATCHEL_WITHOUT_SSE2)
  succeeds "compile scan, $variant" gcc -std=c99 "${strict[@]}" "${flags[@]}" "${include[@]}" Tests/C/scan.c \
    Sources/CScan/scan.c -o "$folder/scan-$variant" "${link[@]}"
  counted "scan, $variant" env ASAN_OPTIONS=detect_leaks=0 "$folder/scan-$variant"
done
counted exports python3 Tests/C/exports.py "$release/libsatchel.so" "$stripped"
counted vectors "$folder/vectors" Tests/Fixtures
counted json_values "$folder/json_values"
counted bad_json "$folder/bad_json"
counted bad_files "$folder/bad_files" "$folder"
counted bad_handles "$folder/bad_handles"
counted bad_catalogue "$folder/bad_catalogue"
counted roundtrip "$folder/roundtrip" Tests/Fixtures "$folder"
counted threads "$folder/threads" "$folder"
counted crash python3 Tests/C/crash.py "$folder/crash_writer" "$folder"
mkdir "$folder/wal-reset"
counted wal_reset "$folder/wal_reset" "$folder/wal-reset"
counted wal_reset_library env LD_PRELOAD="$folder/stalling_preload.so" SATCHEL_LIBRARY="$release/libsatchel.so" \
  PYTHONPATH=Bindings/Python python3 Tests/C/wal_reset_library.py "$folder/wal-reset"
counted stories "$folder/stories" Tests/Fixtures
counted bad_stories "$folder/bad_stories"
mkdir "$folder/files" "$folder/valgrind"
counted library "$folder/library" "$folder/files"
counted library_changes "$folder/library_changes" "$folder/files"
counted bad_library "$folder/bad_library" "$folder/files"
counted bad_library_open "$folder/bad_library_open" "$folder/files"
counted library_threads "$folder/library_threads" "$folder/files"
mkdir "$folder/photo-files" "$folder/photo-valgrind"
counted photos "$folder/photos" "$folder/photo-files"
counted photo_trash "$folder/photo_trash"
counted photo_sync "$folder/photo_sync" "$folder/photo-files"
counted remote "$folder/remote"
counted bad_photos "$folder/bad_photos" "$folder/photo-files"
counted bad_photo_handles "$folder/bad_photo_handles" "$folder/photo-files"
counted bad_remote "$folder/bad_remote" "$folder/photo-files"
counted batches "$folder/batches" "$folder"
counted callbacks "$folder/callbacks" "$folder"
counted changes "$folder/changes"
counted live_queries "$folder/live_queries"
counted interrupts "$folder/interrupts" "$folder"
counted error_details "$folder/error_details"
counted crash_report "$folder/crash_report"
mkdir "$folder/record-files"
counted records "$folder/records" "$folder/record-files"
counted record_queries "$folder/record_queries"
counted state "$folder/state"
counted store_sync "$folder/store_sync"
counted continuous_sync "$folder/continuous_sync"
mkdir "$folder/asset-files" "$folder/asset-valgrind"
counted assets "$folder/assets" "$folder/asset-files"
counted asset_functions "$folder/asset_functions" "$folder/asset-files"
counted sources "$folder/sources" "$folder/asset-files"

# No invalid access and no lost byte, in the library either. Swift looks at the signs of words of which
# it wrote no other bit; without the expensive checks valgrind takes those for uninitialised. It gets the
# stripped library: it cannot read the debugging information of newer compilers.
under_valgrind() {
  (cd "$folder" && LD_LIBRARY_PATH=$(dirname "$stripped") valgrind --quiet --expensive-definedness-checks=yes --leak-check=full \
    --show-leak-kinds=definite --errors-for-leak-kinds=definite --error-exitcode=1 "$@") \
    < /dev/null > "$folder/valgrind.txt"
}
# The backend of the guide, at a free port, which it prints.
exec {said}< <(exec python3 Examples/Backend/backend.py --port 0 2> /dev/null)
backend=$!
read -r served <&"$said"
# Valgrind takes long. A run has a third of the programs, as the commit's seed selects, and `make check` has all.
number=0
while read -r program arguments; do
  if [[ ${SATCHEL_CHANCE:-} == all ]] || ((number++ % 3 == ${SATCHEL_SEED:-0} % 3)); then
    # shellcheck disable=SC2086 # words are wanted here
    succeeds "valgrind $program" under_valgrind "$folder/$program" $arguments
  fi
done << END
guide ${served##* }
bad_handles
bad_stories
library $folder/valgrind
library_changes $folder/valgrind
bad_library $folder/valgrind
bad_library_open $folder/valgrind
photos $folder/photo-valgrind
photo_trash
photo_sync $folder/photo-valgrind
bad_photos $folder/photo-valgrind
bad_photo_handles $folder/photo-valgrind
bad_remote $folder/photo-valgrind
remote
live_queries
store_sync
continuous_sync
assets $folder/asset-valgrind
asset_functions $folder/asset-valgrind
sources $folder/asset-valgrind
END

# At the end, where they are found in a long log.
((failed == 0)) || printf '%s\n' "${failures[@]}" >&2
echo "$passed passed, $failed failed"
((failed == 0))
