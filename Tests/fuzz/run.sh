#!/usr/bin/env bash
# Fuzzes what takes bytes from outside, with libFuzzer and the address sanitizer.
#
#   FUZZ_SECONDS=600 Tests/fuzz/run.sh [FuzzJSON FuzzEdit FuzzCatalogue FuzzStories FuzzPictures]
#
# A finding stops the run; its input stays in .build-fuzz/findings.
set -euo pipefail
cd "$(dirname "$0")/../.."

seconds=${FUZZ_SECONDS:-20}
out=.build-fuzz
targets=("$@")
[ ${#targets[@]} -gt 0 ] || targets=(FuzzJSON FuzzEdit FuzzCatalogue FuzzStories FuzzPictures)

# Not by the package manager: the library's own modules must be instrumented too, and a fuzzer has no main.
flags=(-swift-version 6 -package-name satchel -parse-as-library -g -O -wmo -sanitize=address,fuzzer -I "$out")
for library in CSQLite CJansson CUTF8Proc CNettle; do
  flags+=(-Xcc "-fmodule-map-file=Sources/$library/module.modulemap")
done

build() { # module, sources
  local module=$1
  shift
  swiftc "${flags[@]}" -module-name "$module" -emit-module -emit-module-path "$out/$module.swiftmodule" \
    -emit-object -o "$out/$module.o" "$@"
}

mkdir -p "$out/findings"
objects=()
# The C targets, each with a module map, which the package manager would write.
for module in CScan CPattern CCurl CImages CRootOrder; do
  printf 'module %s {\n  header "%s"\n  export *\n}\n' "$module" "$PWD/Sources/$module/include/$module.h" \
    > "$out/$module.modulemap"
  flags+=(-Xcc "-fmodule-map-file=$out/$module.modulemap")
  for source in "Sources/$module"/*.c; do
    object="$out/$module-$(basename "$source" .c).o"
    clang -g -O1 -fsanitize=address -I "Sources/$module/include" -c -o "$object" "$source"
    objects+=("$object")
  done
done

# Those that only read JSON need no more than its modules.
modules=(SatchelCore SatchelJSON)
case " ${targets[*]} " in
  *' FuzzCatalogue '* | *' FuzzStories '*)
    modules+=(SatchelStorage SatchelAssets SatchelRemote SatchelSync SatchelDocuments SatchelCatalogue SatchelPhotos
      SatchelRecords SatchelState SatchelStories SatchelTwee Satchel)
    ;;
  *' FuzzPictures '*) modules+=(SatchelStorage SatchelAssets) ;;
esac
for module in "${modules[@]}"; do
  mapfile -t sources < <(find "Sources/$module" -name '*.swift' | sort)
  build "$module" "${sources[@]}"
  objects+=("$out/$module.o")
done

for target in "${targets[@]}"; do
  build "$target" "Tests/fuzz/$target.swift"
  swiftc -sanitize=address,fuzzer -parse-as-library -o "$out/$target" "$out/$target.o" "${objects[@]}" \
    -lsqlite3 -ljansson -lutf8proc -lnettle
  python3 Tests/fuzz/seeds.py "$target" "$out/seeds-$target"
  mkdir -p "$out/corpus-$target"
  echo "== $target: $seconds seconds"
  # Jansson's and SQLite's memory at exit is no leak of ours; leaks are valgrind's in Tests/C.
  ASAN_OPTIONS=detect_leaks=0 "$out/$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=4096 -print_final_stats=1 -verbosity=0 -dict=Tests/fuzz/json.dict \
    -artifact_prefix="$out/findings/$target-" "$out/corpus-$target" "$out/seeds-$target"
done
echo "no findings"
