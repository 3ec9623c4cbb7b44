#!/usr/bin/env bash
# Formatting of Swift and Python, Python's types, the wording, the index of the tests, and satchel.h by Doxygen.
set -euo pipefail
cd "$(dirname "$0")/.."

root=$PWD
python3 Bindings/Python/generate.py
ruff=$root/.venv/bin/ruff
swift format lint --strict -r Sources Tests Examples Package.swift
"$ruff" check --no-cache Bindings/Python Tests Examples Bindings/Packaging Documentation
(cd Benchmarks && "$ruff" check --no-cache .)
(cd Bindings/Python && "$root/.venv/bin/mypy" --cache-dir "$root/.build-test/mypy" --strict satchel)
python3 Tests/words.py
python3 Tests/index.py --check
mkdir -p .build-test/doxygen
SATCHEL_DOXYGEN_OUT=.build-test/doxygen doxygen Tests/documentation/Doxyfile
echo 'doxygen: no warnings about Include/satchel.h'
