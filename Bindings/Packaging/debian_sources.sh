# Sourced by scripts that download Debian's source packages: sets up lists of apt's own, so that those of the machine
# stay as they are.
#
# use_debian_sources DIRECTORY MIRROR SUITE
use_debian_sources() {
  local work=$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources"
  echo "deb-src [signed-by=$keyring] $2 $3 main" > "$work/sources.list"
  cat > "$work/apt.conf" << CONFIGURATION
Dir::Etc::sourcelist "$work/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State::lists "$work/lists";
Dir::Cache "$work/cache";
APT::Sandbox::User "root";
CONFIGURATION
  export APT_CONFIG=$work/apt.conf
  apt-get update -qq
}
