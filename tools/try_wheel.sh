#!/bin/sh
# try_wheel.sh WHEELS [SYSTEM...]: installs and runs the wheels of a folder (`make wheels` fills
# build-wheels/dist) where nothing else is: in fresh root folders without a compiler or development
# packages. Needs root and a mirror (MIRROR_DEBIAN, MIRROR_UBUNTU); the roots go to build-roots/.
#
#   bookworm  Debian 12, glibc 2.36: pip in a virtual environment, program and package
#   bullseye  Debian 11, glibc 2.31; its Python is older than the package needs: the program alone
#   xenial    Ubuntu 16.04, glibc 2.23: the program alone
#   arm64     Debian 12 for 64-bit ARM under qemu: program and package, from the unpacked wheel
set -eu
wheels=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- bookworm bullseye xenial arm64
debian=${MIRROR_DEBIAN:-http://deb.debian.org/debian}
ubuntu=${MIRROR_UBUNTU:-http://archive.ubuntu.com/ubuntu}
trace=tests/data/flux2/flux2_before_compile.json.gz
program='import strata
with strata.stage("work"):
    pass
print(strata.__version__, sorted(strata.report()), len(strata.report("/trace.json.gz").html))'

say() { printf '\n== %s\n' "$*"; }

# make_root NAME SUITE MIRROR OPTION...: a root folder, made once
make_root() {
    root=build-roots/$1 suite=$2 mirror=$3
    shift 3
    [ ! -f "$root/.made" ] || return 0
    rm -rf "$root"
    mkdir -p build-roots
    debootstrap --variant=minbase "$@" "$suite" "$root" "$mirror" >"$root.log" 2>&1 || {
        tail -5 "$root.log" >&2
        exit 1
    }
    touch "$root/.made"
}

# put ROOT ARCHITECTURE: the wheel and a trace into the root folder, the wheel also unpacked
put() {
    cp "$wheels"/*_"$2".whl "$1"
    cp "$trace" "$1/trace.json.gz"
    rm -rf "$1/unpacked"
    mkdir "$1/unpacked"
    unzip -q "$wheels"/*_"$2".whl -d "$1/unpacked"
}

# unpacked_program ROOT: its path inside
unpacked_program() {
    for path in "$1"/unpacked/strata_profiler-*.data/scripts/strata; do echo "${path#"$1"}"; done
}

bare() {
    for tool in cc gcc ld make; do
        [ ! -e "$1/usr/bin/$tool" ] || { echo "$1 has $tool" >&2 && exit 1; }
    done
}

# in_root ROOT COMMAND...: with nothing of this environment
in_root() {
    where=$1
    shift
    env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root LC_ALL=C.UTF-8 chroot "$where" "$@"
}

# look RUN...: what every system must be able to do; RUN... runs strata there
look() {
    "$@" --version
    "$@" report /trace.json.gz | sed -n 1,5p
    "$@" stages /trace.json.gz | sed -n 1,6p
    "$@" report /trace.json.gz --html /tmp/report.html >/dev/null
    "$@" export /trace.json.gz -o /tmp/trace.strata
    "$@" table /tmp/trace.strata | sed -n 1,4p
    "$@" doctor | grep -A1 'recording library'
}

try_old() { # SUITE MIRROR OPTION...
    say "$1: the unpacked wheel, $1's glibc"
    make_root "$1" "$@"
    root=build-roots/$1
    bare "$root"
    put "$root" x86_64
    in_root "$root" ldd --version | sed -n 1p
    look in_root "$root" "$(unpacked_program "$root")"
    ls -l "$root/tmp/report.html"
}

try_bookworm() {
    say 'bookworm: pip in a virtual environment'
    make_root bookworm bookworm "$debian" --include=python3-venv
    root=build-roots/bookworm
    bare "$root"
    put "$root" x86_64
    in_root "$root" ldd --version | sed -n 1p
    in_root "$root" sh -c 'rm -rf /venv && python3 -m venv /venv &&
        /venv/bin/pip install --quiet --no-index /*.whl'
    look in_root "$root" /venv/bin/strata
    ls -l "$root/tmp/report.html"
    printf '%s\n' "$program" >"$root/prog.py"
    in_root "$root" sh -c 'cd /tmp && /venv/bin/strata run -- /venv/bin/python /prog.py'
}

try_arm64() {
    say 'arm64: Debian 12 under qemu'
    make_root arm64 bookworm "$debian" --foreign --arch=arm64 --include=python3-minimal,python3
    root=$PWD/build-roots/arm64
    bare "$root"
    for package in "$root"/var/cache/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done
    put "$root" aarch64
    cp "$(command -v qemu-aarch64-static)" "$root/usr/bin/"
    look in_root "$root" /usr/bin/qemu-aarch64-static \
        "$(unpacked_program "$root")"
    ls -l "$root/tmp/report.html"
    # The package starts the program, which the kernel cannot run here: a script does.
    # shellcheck disable=SC2016  # its own arguments
    printf '#!/bin/sh\nexec qemu-aarch64-static -L "%s" "%s" "$@"\n' "$root" \
        "$root$(unpacked_program "$root")" >"$root/tmp/strata"
    chmod +x "$root/tmp/strata"
    printf '%s\n' "$program" | sed "s|/trace.json.gz|$root/trace.json.gz|" >"$root/prog.py"
    (cd "$root/tmp" && STRATA_BIN="$root/tmp/strata" PYTHONHOME="$root/usr" \
        PYTHONPATH="$root/unpacked" qemu-aarch64-static -L "$root" "$root/usr/bin/python3.11" \
        "$root/prog.py")
}

for system in "$@"; do
    case $system in
    bookworm) try_bookworm ;;
    arm64) try_arm64 ;;
    bullseye) try_old bullseye "$debian" ;;
    xenial) try_old xenial "$ubuntu" --no-check-gpg ;;
    *) echo "try_wheel.sh: no such system: $system" >&2 && exit 2 ;;
    esac
done
