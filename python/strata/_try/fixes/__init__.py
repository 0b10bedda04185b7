"""All fixes, one file each. To add one: write the file and list its class here."""
from __future__ import annotations

import difflib
from typing import Any

from strata._try.fixes.alloc import Alloc
from strata._try.fixes.attention import Attention
from strata._try.fixes.base import Fix, FixError, Note
from strata._try.fixes.batched_guidance import BatchedGuidance
from strata._try.fixes.bf16 import Bf16
from strata._try.fixes.channels_last import ChannelsLast
from strata._try.fixes.compile import Compile
from strata._try.fixes.cudnn_benchmark import CudnnBenchmark
from strata._try.fixes.garbage import Garbage
from strata._try.fixes.graph import Graph
from strata._try.fixes.loader import Loader
from strata._try.fixes.merged_adapters import MergedAdapters
from strata._try.fixes.near_cpus import NearCpus
from strata._try.fixes.no_anomaly import NoAnomaly
from strata._try.fixes.no_checkpointing import NoCheckpointing
from strata._try.fixes.no_cudnn_attention import NoCudnnAttention
from strata._try.fixes.no_determinism import NoDeterminism
from strata._try.fixes.no_empty_cache import NoEmptyCache
from strata._try.fixes.no_explicit_sync import NoExplicitSync
from strata._try.fixes.no_launch_blocking import NoLaunchBlocking
from strata._try.fixes.no_mask import NoMask
from strata._try.fixes.no_memory_history import NoMemoryHistory
from strata._try.fixes.no_tiling import NoTiling
from strata._try.fixes.no_weight_norm import NoWeightNorm
from strata._try.fixes.nothing import Nothing
from strata._try.fixes.optimizers import ForeachOptimizer, FusedOptimizer
from strata._try.fixes.persistent_workers import PersistentWorkers
from strata._try.fixes.pinned_uploads import PinnedUploads
from strata._try.fixes.static_cache import StaticCache
from strata._try.fixes.tf32 import Tf32
from strata._try.fixes.threads import Threads

ALL: tuple[type[Fix], ...] = (
    Compile,
    Graph,
    StaticCache,
    Tf32,
    Bf16,
    ChannelsLast,
    Attention,
    FusedOptimizer,
    ForeachOptimizer,
    Loader,
    PinnedUploads,
    NoEmptyCache,
    NoExplicitSync,
    NoAnomaly,
    NoLaunchBlocking,
    NoDeterminism,
    NoMemoryHistory,
    NoCheckpointing,
    NoWeightNorm,
    NoMask,
    MergedAdapters,
    NoCudnnAttention,
    PersistentWorkers,
    NoTiling,
    BatchedGuidance,
    Threads,
    NearCpus,
    Garbage,
    CudnnBenchmark,
    Alloc,
    Nothing,
)

__all__ = ["ALL", "Fix", "FixError", "Note", "from_finding", "parse"]


def parse(spec: str) -> Fix:
    """A fix as the user writes it: compile:unet:reduce-overhead."""
    name, *arguments = spec.strip().split(":")
    for cls in ALL:
        if cls.name == name:
            return cls(arguments)
    near = difflib.get_close_matches(name, [c.name for c in ALL], 1, 0.5)
    raise FixError(f"unknown fix '{name}'. " + (f"Did you mean '{near[0]}'?" if near else
                                                "strata try --list shows all fixes."))


def from_finding(finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
    """The fixes a finding asks for that can be applied from outside."""
    return [found for cls in ALL for found in cls.from_finding(finding, module)]
