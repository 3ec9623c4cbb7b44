#!/usr/bin/env bash
# The linker, which finds archives in .build-lib/static before it looks for them in the toolchain.
exec "$(dirname "$(readlink -f "$(command -v swiftc)")")/ld.lld" "-L$(dirname "$0")/../.build-lib/static" "$@"
