"""Builds wheels: meson-python, with three additions. The extension is the same for every Python since
OLDEST, so a wheel says so whichever built it. The setting `platform` names what a wheel was built for
(tools/wheels.py). And editable installations have the command too: a script that runs it from the
build folder."""
import base64
import hashlib
import os
import re
import shlex
import zipfile

import mesonpy
from mesonpy import (build_sdist, get_requires_for_build_editable, get_requires_for_build_sdist,
                     get_requires_for_build_wheel)

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
           "get_requires_for_build_sdist", "get_requires_for_build_wheel"]

OLDEST = "cp310"  # as Py_LIMITED_API in python/src/core.h
BUILD = "build-editable"


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The name of the wheel that was written to `wheel_directory`."""
    settings = dict(config_settings or {})
    platform = settings.pop("platform", None)
    name = mesonpy.build_wheel(wheel_directory, settings, metadata_directory)
    wheel = Wheel(os.path.join(wheel_directory, name))
    tags = wheel.path(".dist-info/WHEEL")
    tag = re.search(r"-(\w+-\w+-\w+)\.whl$", name).group(1)
    new = re.sub(r"cp\d+-abi3", f"{OLDEST}-abi3", tag)
    if platform:
        new = f"{new.rpartition('-')[0]}-{platform}"
    lines = [line for line in wheel.files[tags].decode().splitlines()
             if line and not line.startswith("Tag:")]
    python = new.rpartition("-")[0]
    lines += [f"Tag: {python}-{each}" for each in new.rpartition("-")[2].split(".")]
    wheel.files[tags] = "\n".join(lines).encode() + b"\n"
    return wheel.save(name.replace(tag, new))


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The same, for an installation that uses the sources where they are."""
    settings = {"build-dir": BUILD} | (config_settings or {})
    name = mesonpy.build_editable(wheel_directory, settings, metadata_directory)
    command = os.path.join(os.path.abspath(settings["build-dir"]), "src", "strata")
    wheel = Wheel(os.path.join(wheel_directory, name))
    script = wheel.path(".dist-info/WHEEL").replace(".dist-info/WHEEL", ".data/scripts/strata")
    wheel.files[script] = f'#!/bin/sh\nexec {shlex.quote(command)} "$@"\n'.encode()
    return wheel.save(name)


class Wheel:
    """A wheel to be changed: its files by name. It lists them with their checksums in RECORD."""

    def __init__(self, path):
        self.folder = os.path.dirname(path)
        with zipfile.ZipFile(path) as old:
            self.files = {entry: old.read(entry) for entry in old.namelist()}
        os.unlink(path)

    def path(self, end):
        """The name of the file that ends like this."""
        return next(entry for entry in self.files if entry.endswith(end))

    def save(self, name):
        """Writes it under that name, which is returned."""
        record = self.path(".dist-info/RECORD")
        del self.files[record]
        lines = [f"{entry},sha256={_checksum(content)},{len(content)}"
                 for entry, content in self.files.items()]
        self.files[record] = "\n".join([*lines, f"{record},,"]).encode() + b"\n"
        with zipfile.ZipFile(os.path.join(self.folder, name), "w") as new:
            for entry, content in self.files.items():
                info = zipfile.ZipInfo(entry)
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (0o100755 if "/scripts/" in entry else 0o100644) << 16
                new.writestr(info, content)
        return name


def _checksum(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
