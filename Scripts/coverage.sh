#!/usr/bin/env bash
# The share of Sources' lines that the Swift suites run: 90 % at least.
set -euo pipefail
cd "$(dirname "$0")/.."

export SATCHEL_TOOL=1
# Merged here and not by `swift test`, which fails when a process that a test has killed leaves half a profile.
swift build --build-tests --enable-code-coverage --scratch-path .build-coverage
rm -rf .build-coverage/profiles
LLVM_PROFILE_FILE=$PWD/.build-coverage/profiles/%p.profraw .venv-servers/bin/python Tests/Servers/run.py ministack -- \
  swift test --skip-build --scratch-path .build-coverage
python3 Tests/coverage.py .build-coverage/debug .build-coverage/profiles 90
