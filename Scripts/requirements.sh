#!/usr/bin/env bash
# Writes what Python packages are installed, with versions and hashes, beside each list of what people write, in .in.
set -euo pipefail
cd "$(dirname "$0")/.."

lists=(Bindings/Python/requirements-dev Bindings/Python/wheel-requirements Benchmarks/requirements
  Documentation/site/requirements Tests/Servers/requirements Tests/Servers/requirements-more)
.venv/bin/python -m pip install --quiet uv
uv=$PWD/.venv/bin/uv
for each in "${lists[@]}"; do
  (cd "$(dirname "$each")" && "$uv" pip compile --quiet --universal --generate-hashes --no-annotate \
    --no-emit-index-url --custom-compile-command 'make requirements' --python-version 3.11 ${UPGRADE:+--upgrade} \
    "$(basename "$each").in" --output-file "$(basename "$each").txt")
done
