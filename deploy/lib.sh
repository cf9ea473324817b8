# Shared by quickstart and test: what a fresh Debian machine with only Python lacks, and a venv.
# Sourced from the root of the project.

say() { printf '%s\n' "$*"; }
die() { printf 'vecsearch: %s\n' "$*" >&2; exit 1; }

# need_packages COMMAND:PACKAGE ... : install the Debian packages whose command is missing.
need_packages() {
  missing=""
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null 2>&1 || missing="$missing ${pair##*:}"
  done
  python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"
  [ -z "$missing" ] && return 0
  command -v apt-get >/dev/null 2>&1 || die "please install:$missing"
  as_root=""
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || die "please install as root: apt-get install$missing"
    as_root=sudo
  fi
  say "installing$missing"
  # shellcheck disable=SC2086
  { $as_root apt-get update -qq && DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing; } \
    >/tmp/vecsearch-apt.$$ 2>&1 || { tail -n 5 /tmp/vecsearch-apt.$$ >&2; die "apt-get could not install$missing"; }
  rm -f /tmp/vecsearch-apt.$$
}

# make_venv WHAT ... : .venv with what pip installs.
make_venv() {
  command -v python3 >/dev/null 2>&1 || die "python3 (3.11 or newer) is needed"
  python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "Python 3.11 or newer is needed, this is $(python3 -V)"
  [ -x .venv/bin/python ] && .venv/bin/python -m pip --version >/dev/null 2>&1 || python3 -m venv --clear .venv || die "cannot make .venv"
  .venv/bin/python -m pip install --quiet --disable-pip-version-check "$@" || die "pip could not install $*"
}
