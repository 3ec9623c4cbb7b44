#!/usr/bin/env bash
# Runs one runner of the tests, by the name of its target in the Makefile, which builds what it needs first. Its output
# is kept in .build-test/logs/NAME.log, and in NAME.time the seconds that it took: passed, and of the processors.
set -uo pipefail
cd "$(dirname "$0")/.."

name=$1
logs=.build-test/logs
python=$PWD/.venv/bin/python
commit=$(git rev-parse --short=6 HEAD 2> /dev/null || echo 1)
# Chance begins with the commit's number: each commit tries others, and a failure can be repeated.
export SATCHEL_SEED=${SATCHEL_SEED:-$((16#$commit))}
export HYPOTHESIS_STORAGE_DIRECTORY=$PWD/.build-test/hypothesis
# Modules of the tests are found beside those of the library.
export SATCHEL_LIBRARY=$PWD/.build-lib/release/libsatchel.so PYTHONPATH=$PWD/Bindings/Python:$PWD/Tests/Servers
# Not by `swift test`, which would keep the examples and the guides from being built meanwhile.
suites=(.build-test/debug/SatchelPackageTests.xctest --testing-library swift-testing)
# In an optimized build, under the address sanitizer.
addresses=(swift test -c release -Xswiftc -enable-testing --sanitize=address --scratch-path .build-address)
# Leaks of XCTest are not ours. Less work with each allocation, which saves a tenth of the suites' time: the sanitizer
# keeps one frame of the call stack, and does not fill what is allocated.
allocations=detect_leaks=0:malloc_context_size=1:max_malloc_fill_size=0
pytest=("$python" -m pytest -p no:cacheprovider -q --hypothesis-seed "$SATCHEL_SEED")

# chance PORTION ALL: the first of `make test`, the second of `make check`.
chance() { if [[ ${SATCHEL_CHANCE:-} == all ]]; then echo "$2"; else echo "$1"; fi; }

# beside STORE COMMAND…: with a real object store on loopback.
beside() { .venv-servers/bin/python Tests/Servers/run.py "$1" -- "${@:2}"; }

# Devices that synchronize with a store and are killed, each policy for so many seconds.
killed() { beside "$1" "$python" Tests/crash/synced_stores.py "$2"; }

# Each store with the suites that it can pass: not all of them decide races, and some ignore conditions, for which they
# must be refused.
every_store() {
  local store filter
  for store in ministack seaweedfs ceph swift rclone; do
    case $store in
      ceph) filter='S3VerdictTests|S3FaultTests|ObjectStoreConformance' ;;
      swift | rclone) filter=S3VerdictTests ;;
      *) filter=SatchelRemoteTests ;;
    esac
    echo "---- $store ----"
    beside "$store" "${suites[@]}" --filter "$filter" || return
  done
  # Those that decide races, besides the one of every test run: devices synchronize with them.
  for store in seaweedfs ceph; do
    echo "---- $store, requests ----"
    beside "$store" "${pytest[@]}" Bindings/Python/tests/test_sync_traffic.py || return
    echo "---- $store, kills ----"
    killed "$store" "${SATCHEL_CRASH_SECONDS:-20}" || return
  done
}

# On a newer SQLite than Debian stable's, which the C programs, the binding and the Swift suites find first.
newer_sqlite() {
  local newer=$PWD/.build-sqlite status=0 runner
  Bindings/Packaging/sqlite.sh "$newer" || return
  export LD_LIBRARY_PATH=$newer
  "$python" Tests/sqlite/loaded.py "$newer" || return
  for runner in test-c test-python test-swift; do
    logged "test-sqlite-${runner#test-}" run "$runner" || status=1
  done
  python3 Tests/summary.py $logs test-sqlite-{c,python,swift} || status=1
  return $status
}

corpora() {
  "$python" Tests/corpora/suites.py "$CORPORA" && "$python" Tests/corpora/artworks.py "$CORPORA/collection" \
    && "$python" Tests/corpora/deliveries.py "$CORPORA/countries-states-cities-database"
}

run() {
  case $1 in
    test-swift) beside ministack "${suites[@]}" ${FILTER:+--filter "$FILTER"} ;;
    test-python) beside ministack "${pytest[@]}" Bindings/Python/tests ;;
    test-journeys)
      # A library of 20,000 photos takes minutes.
      SATCHEL_LIBRARY_PHOTOS=${SATCHEL_LIBRARY_PHOTOS:-$(chance 240 20000)} beside ministack "${pytest[@]}" Tests/journeys
      ;;
    test-tool) beside ministack Tests/tool/run.sh .build-lib/release/satchel-cli ;;
    test-c) SATCHEL_CRASHES=${SATCHEL_CRASHES:-$(chance 30 300)} Tests/C/run.sh ;;
    test-crash) beside ministack "$python" Tests/crash/every.py "${SATCHEL_CRASH_SECONDS:-$(chance 5 30)}" ;;
    test-kill) "$python" Tests/crash/records.py "${SATCHEL_KILLS:-$(chance 60 300)}" --seed "$SATCHEL_SEED" ;;
    test-power) "$python" Tests/crash/power.py "${SATCHEL_POWER_STATES:-$(chance 10 100)}" ;;
    test-model) python3 Tests/model/run.py 1000 --first "$SATCHEL_SEED" && python3 Tests/model/run.py mutants ;;
    test-schedules) "$python" Tests/schedules/run.py "$(chance 20 100)" ;;
    test-examples) Tests/examples/run.sh ;;
    test-install) Tests/install/run.sh ;;
    test-docs) "$python" Tests/documentation/run.py ;;
    test-s3) every_store ;;
    test-sqlite) newer_sqlite ;;
    test-images) Tests/images/run.sh "$python" ;;
    test-corpora) corpora ;;
    check-api) "$python" Tests/fuzz/api.py --seconds 60 ;;
    # A debug build: in an optimized one the sanitizer sees the code that copies arrays and dictionaries, but not the
    # counting of references in the runtime by which two threads may share them. Left out is what one thread does alone,
    # and takes long for here: hostile and damaged stores, hostile stories and files of photos, simulations, comparison
    # with a model, and stories of a million segments.
    check-thread)
      beside ministack swift test --sanitize=thread --scratch-path .build-thread \
        --skip 'SatchelHostileTests|RecoveryTests|CatalogueDamageTests|OutboxFileTests/every|TweeHostileTests' \
        --skip 'FormatFuzzTests|SimulationTests|CatalogueModelTests|LargeTests/chain|CountTests/tree'
      ;;
    check-address) ASAN_OPTIONS=$allocations beside ministack "${addresses[@]}" ;;
    soak-power) "$python" Tests/crash/power.py 5000 ;;
    soak-model) python3 Tests/model/run.py "${SATCHEL_SIMULATIONS:-100000}" ;;
    soak-schedules) "$python" Tests/schedules/run.py "${SATCHEL_SCHEDULES:-1000}" ;;
    soak-simulations)
      SATCHEL_SIMULATIONS=${SATCHEL_SIMULATIONS:-100000} swift test -c release -Xswiftc -enable-testing \
        --scratch-path .build-simulation --filter SimulationTests --skip 'Asset.*SimulationTests'
      ;;
    soak-assets)
      SATCHEL_SUITES='SatchelSyncTests SatchelAssetsTests' SATCHEL_SIMULATIONS=${SATCHEL_SIMULATIONS:-30000} \
        swift test -c release -Xswiftc -enable-testing --scratch-path .build-simulation \
        --filter 'Asset.*SimulationTests'
      ;;
    # Most of a mutation's time is the sanitizer's own: memory that was freed is kept as long as it stays in the
    # processor's cache.
    soak-mutations)
      SATCHEL_MUTATIONS=${SATCHEL_MUTATIONS:-100000} SATCHEL_CALL_SECONDS=10 \
        ASAN_OPTIONS=$allocations:quarantine_size_mb=1:thread_local_quarantine_size_kb=64 \
        "${addresses[@]}" --filter SatchelHostileTests
      ;;
    soak-api) "$python" Tests/fuzz/api.py --seconds 600 ;;
    soak-films) "$python" Tests/films/run.py ;;
    soak-sync-*) killed "${1#soak-sync-}" "${SATCHEL_CRASH_SECONDS:-300}" ;;
    soak-damages) SATCHEL_CHANCE=all SATCHEL_ALL_DAMAGES=1 "${pytest[@]}" Bindings/Python/tests/test_sync_objects.py ;;
    *) echo "test.sh does not know $1" >&2; return 2 ;;
  esac
}

# logged NAME COMMAND…: keeps the output; beside other runners, each line names its own.
logged() {
  local prefix=${SIDE_BY_SIDE:+$1: } TIMEFORMAT='%R %U %S'
  { time "${@:2}" 2>&1; } 2> "$logs/$1.time" | tee "$logs/$1.log" | sed -u "s/^/$prefix/"
}

mkdir -p $logs
python3 Bindings/Python/generate.py
logged "$name" run "$name"
