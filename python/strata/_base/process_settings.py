"""What is set in the process: flags of torch, variables of the environment, processors. What can make
a program slow, or numbers of two runs differ. Variables only by name, from a list; nothing that may
be a secret."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

VARIABLES = ("CUDA_LAUNCH_BLOCKING", "HIP_LAUNCH_BLOCKING", "AMD_SERIALIZE_KERNEL",
             "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_MODULE_LOADING", "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
             "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
             "PYTORCH_NO_HIP_MEMORY_CACHING", "TORCH_CUDNN_V8_API_ENABLED", "TORCH_COMPILE_DISABLE",
             "TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_MAX_AUTOTUNE", "TORCH_LOGS", "OMP_NUM_THREADS",
             "MKL_NUM_THREADS", "NCCL_DEBUG", "NCCL_ALGO", "NCCL_PROTO", "NCCL_P2P_DISABLE",
             "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE", "NVIDIA_TF32_OVERRIDE")

# Each is left out where the version has no such flag.
FLAGS: dict[str, Callable[[Any], Any]] = {
    "threads": lambda torch: torch.get_num_threads(),
    "deterministic": lambda torch: torch.are_deterministic_algorithms_enabled(),
    "deterministic_fill": lambda torch: torch.utils.deterministic.fill_uninitialized_memory,
    "matmul_precision": lambda torch: torch.get_float32_matmul_precision(),
    "anomaly_detection": lambda torch: torch.is_anomaly_enabled(),
    "autocast_cache": lambda torch: torch.is_autocast_cache_enabled(),
    "cudnn_enabled": lambda torch: torch.backends.cudnn.enabled,
    "cudnn_benchmark": lambda torch: torch.backends.cudnn.benchmark,
    "cudnn_deterministic": lambda torch: torch.backends.cudnn.deterministic,
    "cudnn_tf32": lambda torch: torch.backends.cudnn.allow_tf32,
    "sdp_flash": lambda torch: torch.backends.cuda.flash_sdp_enabled(),
    "sdp_efficient": lambda torch: torch.backends.cuda.mem_efficient_sdp_enabled(),
    "sdp_cudnn": lambda torch: torch.backends.cuda.cudnn_sdp_enabled(),
    "sdp_math": lambda torch: torch.backends.cuda.math_sdp_enabled(),
    "memory_history": lambda torch: torch.cuda.is_initialized() and torch._C._cuda_isHistoryEnabled(),
    "emit_nvtx": lambda torch: torch._C._autograd._profiler_type().name == "NVTX",
}

BESIDE = "/sys/bus/pci/devices/{}/local_cpulist"


def flags() -> dict[str, Any]:
    """Those of torch; nothing where it is not loaded. Wakes no device up."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "version"):
        return {}
    found: dict[str, Any] = {}
    for name, read in FLAGS.items():
        try:
            found[name] = read(torch)
        except Exception:
            pass  # this version has no such flag
    return {k: v for k, v in found.items() if v is not None}


def variables() -> dict[str, str]:
    return {k: os.environ[k] for k in VARIABLES if k in os.environ}


def cpu_limit() -> float | None:
    """How many processors the process may use at once, by its control group; None: no limit."""
    try:
        with open("/sys/fs/cgroup/cpu.max", encoding="ascii") as file:
            quota, period = file.read().split()[:2]
        return None if quota == "max" else round(int(quota) / int(period), 2)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def bus_of(torch: Any) -> str:
    """The PCI address of the first GPU that the process sees."""
    try:
        p = torch.cuda.get_device_properties(0)
        return f"{p.pci_domain_id:04x}:{p.pci_bus_id:02x}:{p.pci_device_id:02x}.0"
    except (AssertionError, AttributeError, RuntimeError):
        return ""


def cpus_of(bus: str) -> set[int]:
    """The processors beside a device; none where that is not known."""
    try:
        with open(BESIDE.format(bus), encoding="ascii") as file:
            return read_list(file.read())
    except (OSError, ValueError):
        return set()


def read_list(text: str) -> set[int]:
    """0-3,8 as numbers."""
    found: set[int] = set()
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def _beside_gpu(own: set[int]) -> int | None:
    """How many of the processors lie beside the GPU; None where that is not known, or no GPU is in
    use."""
    torch = sys.modules.get("torch")
    try:
        near = cpus_of(bus_of(torch)) if torch is not None and torch.cuda.is_initialized() else set()
    except (AttributeError, RuntimeError):
        return None
    return len(own & near) if near else None


def _text(value: Any) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else str(value)


def read() -> dict[str, str]:
    """All of it as texts: flags are on or off, what is not known or not set is left out."""
    own = os.sched_getaffinity(0)
    places = {"cpus": len(own), "cpu_limit": cpu_limit(), "cpus_beside_gpu": _beside_gpu(own)}
    found = {**flags(), **variables(), **{k: v for k, v in places.items() if v is not None}}
    return {name: _text(value) for name, value in found.items()}
