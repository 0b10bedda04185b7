#!/usr/bin/env python3
"""Wheels that need nothing but glibc 2.17, for x86-64 and 64-bit ARM, and what auditwheel says of
them. Everything else is linked in; zig compiles for both, with the symbols of that glibc.

    wheels.py FOLDER [ARCHITECTURE...]

FOLDER gets the wheels, in dist/, and a build folder for each architecture; its venv/ has the tools
(tools/wheels.txt). `make wheels` calls this.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
GLIBC = (2, 17)
ARCHITECTURES = ("x86_64", "aarch64")
GLIBC_LIBRARIES = {"libc", "libdl", "libm", "libpthread", "librt"}
ALIAS = "manylinux2014"  # what older versions of pip call it

CROSS = """
[binaries]
c = ['{zig}', 'cc', '-target', '{cpu}-linux-gnu.{glibc}']
ar = ['{zig}', 'ar']
ranlib = ['{zig}', 'ranlib']
exe_wrapper = {wrapper}

[built-in options]
c_args = ['-idirafter', '{headers}']
c_link_args = ['-s']

[host_machine]
system = 'linux'
cpu_family = '{cpu}'
cpu = '{cpu}'
endian = 'little'
"""


def platform(cpu):
    """The tag of a wheel for that processor."""
    return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{cpu}.{ALIAS}_{cpu}"


def emulator(cpu):
    """A command that runs programs for that processor here; none is needed for this one."""
    if cpu == os.uname().machine:
        return []
    return [f"qemu-{cpu}-static", "-L", f"/usr/{cpu}-linux-gnu"]


def python_headers(folder):
    """Debian's pyconfig.h includes one for the architecture from a folder in which zig does not look.
    The extension uses the stable interface alone, for which those of 64-bit Linux are all alike."""
    own = next(Path("/usr/include").glob(
        f"*-linux-gnu/python{sysconfig.get_python_version()}/pyconfig.h"), None)
    folder.mkdir(parents=True, exist_ok=True)
    for cpu in ARCHITECTURES if own else ():
        place = folder / f"{cpu}-linux-gnu" / own.parent.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(own, place)
    return folder


def cross_file(folder, cpu, tools):
    zig = next(tools.glob("lib/python3*/site-packages/ziglang/zig"))
    path = folder / f"{cpu}.ini"
    path.write_text(CROSS.format(zig=zig, cpu=cpu, glibc=".".join(map(str, GLIBC)),
                                 wrapper=emulator(cpu), headers=python_headers(folder / "include")))
    return path


def build(folder, cpu, tools):
    """Builds the wheel of an architecture and returns its path."""
    settings = [f"build-dir={folder / cpu}", f"platform={platform(cpu)}",
                f"setup-args=--cross-file={cross_file(folder, cpu, tools)}",
                "setup-args=--wrap-mode=forcefallback"]
    dist = folder / "dist"
    for old in dist.glob(f"*_{cpu}.whl"):
        old.unlink()
    env = os.environ | {"PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}",
                        "_PYTHON_HOST_PLATFORM": f"linux-{cpu}"}
    run(tools / "bin" / "python", "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check",
        "--no-build-isolation", "--no-deps", "-w", dist,
        *(f"--config-settings={s}" for s in settings), TOP, env=env)
    (wheel,) = dist.glob(f"*_{cpu}.whl")
    return wheel


def audit(wheel, cpu, tools):
    """Shows what auditwheel says, and ends the program unless it is what the wheel's name says."""
    said = run(tools / "bin" / "auditwheel", "show", wheel).stdout
    plain = " ".join(said.split())
    print(plain)
    wanted = f'is consistent with the following platform tag: "{platform(cpu).partition(".")[0]}"'
    if wanted not in plain or set(re.findall(r"\blib\w+(?=\.so)", plain)) - GLIBC_LIBRARIES:
        sys.exit(f"wheels.py: {wheel.name} needs more than glibc {GLIBC[0]}.{GLIBC[1]}")


def run(*command, env=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env=env,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}{done.stderr}wheels.py: {command[0]} failed")
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("architectures", nargs="*", metavar="ARCHITECTURE",
                        default=ARCHITECTURES, help=" or ".join(ARCHITECTURES))
    args = parser.parse_args()
    folder = args.folder.resolve()
    for cpu in args.architectures:
        wheel = build(folder, cpu, folder / "venv")
        audit(wheel, cpu, folder / "venv")
        print(wheel, flush=True)


if __name__ == "__main__":
    main()
