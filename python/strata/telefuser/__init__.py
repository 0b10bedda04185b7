"""TeleFuser's profiling interface on top of strata: one import changes, the code stays.

    from telefuser.utils.profiler import ProfilingContext    # before
    from strata.telefuser.profiler import ProfilingContext   # after

The modules have TeleFuser's names (profiler, stage_bench_harness, memory_snapshot, platforms), and this
package has all they offer. Folders, files, log lines and environment variables are those of TeleFuser's
page on its profiler; docs/telefuser.md lists what is different."""
from typing import Any as _Any

from strata.telefuser.memory_snapshot import (
    MemorySnapshot,
    capture_memory_snapshot,
    get_memory_analysis,
    get_memory_info,
    get_memory_snapshots,
    print_memory_analysis,
    record_memory_snapshot,
    reset_memory_registry,
    reset_peak_memory_stats,
    set_memory_baseline,
)
from strata.telefuser.platforms import current_platform
from strata.telefuser.profiler import (
    GlobalTimingRegistry,
    ProfilingContext,
    ProfilingContext4Debug,
    compare_timing_reports,
    dump_io_signatures,
    dump_timing_report,
    enable_profiler_for_names,
    get_enabled_profiler_names,
    get_io_signatures,
    get_profiler_output_dir,
    get_timing_report,
    mark_as_worker_process,
    print_timing_summary,
    reset_timing_registry,
    set_pipeline_name,
    set_profiler_output_dir,
    set_timing_metadata,
)
from strata.telefuser.signatures import StageIOSignature, TensorSignature

__all__ = [
    "GlobalTimingRegistry", "HarnessConfig", "MemorySnapshot", "ProfilingContext",
    "ProfilingContext4Debug", "StageBenchHarness", "StageIOSignature", "TensorSignature",
    "capture_memory_snapshot", "compare_timing_reports", "current_platform", "dump_io_signatures",
    "dump_timing_report", "enable_profiler_for_names", "get_enabled_profiler_names",
    "get_io_signatures", "get_memory_analysis", "get_memory_info", "get_memory_snapshots",
    "get_profiler_output_dir", "get_timing_report", "mark_as_worker_process",
    "print_memory_analysis", "print_timing_summary", "record_memory_snapshot",
    "reset_memory_registry", "reset_peak_memory_stats", "reset_timing_registry",
    "set_memory_baseline", "set_pipeline_name", "set_profiler_output_dir", "set_timing_metadata",
]


def __getattr__(name: str) -> _Any:
    """The harness is loaded when it is used: it can be run as a command, too."""
    if name in ("HarnessConfig", "StageBenchHarness"):
        from strata.telefuser import stage_bench_harness
        return getattr(stage_bench_harness, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
