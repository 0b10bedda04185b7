"""environment.json: what a run's numbers depend on: versions, devices and their clocks, the commit,
the command. Environment variables only by name, from a list; nothing that may be a secret."""
from __future__ import annotations

import ctypes
import os
import platform
import re
import socket
import sys
from typing import Any

from strata._base import device, process_settings, run_files, secrets, settings
from strata._base.version import __version__

PACKAGES = ("torch", "diffusers", "transformers", "accelerate", "numpy", "safetensors", "triton",
            "xformers", "flash_attn", "deepspeed", "torchao", "bitsandbytes", "peft")

# Of the whole run, beside what is set in the process.
VARIABLES = ("CUDA_VISIBLE_DEVICES", *process_settings.VARIABLES, "RANK", "WORLD_SIZE", "LOCAL_RANK",
             "LOCAL_WORLD_SIZE", "SLURM_JOB_ID", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NNODES",
             "STRATA", "STRATA_ONLY", "STRATA_PIPELINE")


def describe() -> dict[str, Any]:
    """Everything, each part left out where it cannot be found."""
    return {
        "strata": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "host": socket.gethostname(),
        "cpus": len(os.sched_getaffinity(0)),
        "cpu_limit": process_settings.cpu_limit(),
        "command": secrets.clean_command([os.path.basename(sys.executable), *_arguments()]),
        "packages": _packages(),
        "torch": _torch(),
        "devices": _devices(),
        "git": _git(),
        "variables": {k: os.environ[k] for k in VARIABLES if k in os.environ},
    }


def _arguments() -> list[str]:
    """The command line without the home folder, which names the user."""
    home = os.path.expanduser("~")
    words = getattr(sys, "orig_argv", sys.argv)[1:]
    return [w.replace(home, "~") if len(home) > 1 else w for w in words]


def _packages() -> dict[str, str]:
    """Versions of what is loaded."""
    found = {}
    for name in PACKAGES:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found[name] = str(version)
    return found


def _torch() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "version"):
        return {}
    found = {"cuda": torch.version.cuda, "hip": getattr(torch.version, "hip", None),
             **process_settings.flags()}
    return {k: v for k, v in found.items() if v is not None}


def _devices() -> list[dict[str, Any]]:
    """Of the accelerator in use; one that is not is not woken up."""
    accelerator = device.find()
    if accelerator is None:
        return []
    devices = []
    for index in accelerator.devices():
        found: dict[str, Any] = {"index": index, "kind": accelerator.kind}
        try:
            properties = accelerator.module.get_device_properties(index)
            found["name"] = properties.name
            found["memory_bytes"] = properties.total_memory
            found.update(_clocks(str(getattr(properties, "uuid", ""))))
        except Exception:
            pass
        devices.append(found)
    return devices


def _clocks(uuid: str) -> dict[str, Any]:
    """Driver and clocks as NVIDIA's management library tells them."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:
        return {}
    if nvml.nvmlInit_v2():
        return {}
    found: dict[str, Any] = {}
    try:
        text = ctypes.create_string_buffer(96)
        if not nvml.nvmlSystemGetDriverVersion(text, 96):
            found["driver"] = text.value.decode()
        handle = ctypes.c_void_p()
        name = uuid if uuid.startswith("GPU-") else f"GPU-{uuid}"
        if not nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(handle)):
            value = ctypes.c_uint()
            for key, kind in (("sm_clock_mhz", 1), ("memory_clock_mhz", 2)):
                if not nvml.nvmlDeviceGetClockInfo(handle, kind, ctypes.byref(value)):
                    found[key] = value.value
                if not nvml.nvmlDeviceGetMaxClockInfo(handle, kind, ctypes.byref(value)):
                    found[f"max_{key}"] = value.value
    finally:
        nvml.nvmlShutdown()
    return found


def _git() -> dict[str, str]:
    """The commit of the program, read from its .git folder without running git. Only a folder of
    this user is looked into, and nothing gets out of it but what is a commit and a branch: what lies
    in a folder above may belong to another user, and point anywhere."""
    place = _program_folder()
    while place:
        folder = os.path.join(place, ".git")
        if os.path.lexists(folder):
            return _read_git(folder) if os.lstat(folder).st_uid in (os.getuid(), 0) else {}
        parent = os.path.dirname(place)
        place = parent if parent != place else ""
    return {}


def _program_folder() -> str:
    """Where the program lies; without a file of its own, where it was started. By the time this is
    asked it may have gone elsewhere, and Python has forgotten the file."""
    script = getattr(sys.modules.get("__main__"), "__file__", None) or (sys.argv or [""])[0]
    script = os.path.join(settings.STARTED_IN, script)
    return os.path.dirname(os.path.realpath(script)) if os.path.isfile(
        script) else settings.STARTED_IN


_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = re.compile(r"refs/heads/(?!.*\.\.)[\w./+@#-]{1,200}")


def _read(path: str) -> str:
    return run_files.read_plain(path).strip()


def _read_git(folder: str) -> dict[str, str]:
    try:
        if os.path.isfile(folder):  # a worktree: a file that says where the folder is
            folder = os.path.join(os.path.dirname(folder), _read(folder).removeprefix("gitdir: "))
        head = _read(os.path.join(folder, "HEAD"))
        ref = head.removeprefix("ref: ")
        if ref == head:
            return {"commit": head} if _COMMIT.fullmatch(head) else {}
        commit = _commit_of(folder, ref) if _BRANCH.fullmatch(ref) else ""
        return {"branch": ref.removeprefix("refs/heads/"), "commit": commit} if (
            _COMMIT.fullmatch(commit)) else {}
    except (OSError, ValueError):
        return {}


def _commit_of(folder: str, ref: str) -> str:
    common = os.path.join(folder, "commondir")
    top = os.path.join(folder, _read(common)) if os.path.exists(common) else folder
    for base in (folder, top):
        if os.path.exists(os.path.join(base, ref)):
            return _read(os.path.join(base, ref))
    lines = (line.partition(" ") for line in _read(os.path.join(top, "packed-refs")).splitlines())
    return next((commit for commit, _, name in lines if name == ref), "")
