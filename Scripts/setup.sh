#!/usr/bin/env bash
# Installs what a task needs and is missing: setup.sh build|demo|tests|servers|all-servers|wheel|deb|docs|node
# Debian's packages come by apt, Python's into an environment of their own. Where all is there, nothing is downloaded,
# and no network is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

# Headers prove the packages for building. dpkg's record alone does not: an image may have been trimmed afterwards.
build=(gcc valgrind libsqlite3-dev libjansson-dev libutf8proc-dev nettle-dev pkg-config
  libcurl4-openssl-dev libexpat1-dev)
headers=(sqlite3.h jansson.h utf8proc.h nettle/sha2.h curl/curl.h expat.h)
demo=(graphviz) # draws the stories of reports
# Opened by the library when it scales pictures.
pictures=(libturbojpeg0 libpng16-16)
# unicode-data: the table of the root order, which the suites compare with.
tests=(openssl cmake doxygen g++ git unicode-data "${pictures[@]}")
servers=(radosgw ceph-mon ceph-osd ceph-common openssl)
wheel=(dpkg-dev tcl)
deb=(dpkg-dev debhelper dh-python lintian)
docs=(groff-base)
logs=.build-test/logs
as_root=()
[[ $(id -u) == 0 ]] || as_root=(sudo)

# Runners side by side do not install at the same time.
mkdir -p $logs
exec 9> .build-test/setup.lock
flock 9

has_header() { [[ -f /usr/include/$1 ]] || ls /usr/include/*-linux-*/"$1" > /dev/null 2>&1; }

# debian PACKAGE...: those that are missing.
debian() {
  local missing=() package
  for package in "$@"; do dpkg -s "$package" > /dev/null 2>&1 || missing+=("$package"); done
  install_debian "${missing[@]}"
}

# A package is installed again when dpkg has it but its files are gone.
install_debian() {
  (($#)) || return 0
  command -v apt-get > /dev/null || { echo "please install: $*" >&2; exit 1; }
  echo "Installing with apt-get (packages that are installed are upgraded, or installed again): $*"
  { "${as_root[@]}" apt-get update -qq \
    && "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq -o DPkg::Lock::Timeout=120 \
      --no-install-recommends --reinstall "$@"; } > $logs/apt.log 2>&1 || { tail -n 40 $logs/apt.log >&2; exit 1; }
}

# environment FOLDER REQUIREMENTS: a virtual environment with these packages, unless it has them.
environment() {
  local installed=$1/${2##*/}
  [[ -f $installed ]] && cmp -s "$2" "$installed" && return
  python3 -m venv "$1"
  "$1/bin/python" -m pip install --quiet --requirement "$2"
  cp "$2" "$installed"
}

setup_build() {
  command -v swift > /dev/null || {
    echo "swift is not in PATH: install the Swift toolchain, 6.3 or newer (swift.org/install)" >&2
    exit 1
  }
  command -v python3 > /dev/null || { echo "python3 is not in PATH: install it first" >&2; exit 1; }
  debian "${build[@]}"
  local header
  for header in "${headers[@]}"; do has_header "$header" || { install_debian "${build[@]}"; break; }; done
}

debian_tests() {
  # Debian keeps what makes a virtual environment in a package of its own.
  python3 -c 'import ensurepip, venv' 2> /dev/null || tests+=(python3-venv)
  debian "${tests[@]}"
}

setup_tests() {
  debian_tests
  environment .venv Bindings/Python/requirements-dev.txt
}

setup_servers() {
  debian_tests
  # The object stores of the tests have an environment of their own: they bring much along.
  environment .venv-servers Tests/Servers/requirements.txt
}

for task in "$@"; do
  case $task in
    build) setup_build ;;
    demo) debian "${demo[@]}" "${pictures[@]}" ;;
    tests) setup_tests ;;
    servers) setup_servers ;;
    all-servers)
      setup_servers
      environment .venv-servers Tests/Servers/requirements-more.txt
      debian "${servers[@]}"
      ;;
    wheel) debian "${wheel[@]}" ;;
    deb) debian "${deb[@]}" ;;
    docs) debian "${docs[@]}" ;;
    node) command -v node > /dev/null || debian nodejs ;;
    *) echo "setup.sh does not know $task" >&2; exit 2 ;;
  esac
done
