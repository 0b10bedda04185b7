"""Where the time of a GPU pipeline goes: stages, memory, I/O signatures, ranks.

    import strata

    with strata.stage("vae_decode"):         # a part of the program, by name
        ...

    @strata.stage("denoise")                 # functions, methods, coroutines, generators
    def denoise(latents): ...

    handle = strata.annotate_pipeline(pipe)  # a diffusers pipeline, from outside
    handle = strata.watch(model)             # any module or object

    with strata.timeline():                  # every kernel, copy and wait of this part
        ...

    strata.report("trace.json.gz")           # in a notebook: what is slow and why, inline

When the program ends, a table is printed to stderr and files are written to strata_out/ (timing.json
and others). Strata never makes the program fail: what cannot be recorded is left out and reported
once.

Environment: STRATA=off turns everything off at import (decorators return functions unchanged),
STRATA_OUT and STRATA_PIPELINE set where files go, STRATA_ONLY=a,b records a timeline of the named
stages and nothing else. docs/recording.md lists all of them.
"""
from strata._base import extension as _extension
from strata._base.version import __version__

enabled = _extension.enabled
if enabled:
    try:
        from strata import memory
        from strata._pipeline.annotate import annotate_pipeline, watch
        from strata._record.marks import counter, instant, step
        from strata._record.stage import stage
        from strata._report.timing import report, reset, run_dir, set_metadata, write
        from strata._switch import on as _on
        from strata._timeline.snapshot import snapshot
        from strata._timeline.timeline import timeline
        from strata._timeline.torch_profile import profile, schedule

        _on.begin()
    except Exception as why:  # an incomplete installation
        _extension.give_up(why)
        enabled = False
if not enabled:
    from strata._switch import off as memory  # type: ignore[no-redef]  # the same names, idle
    from strata._switch.off import (  # type: ignore[assignment]
        annotate_pipeline,
        counter,
        instant,
        no_snapshot as snapshot,
        profile,
        report,
        reset,
        run_dir,
        schedule,
        set_metadata,
        stage,
        step,
        timeline,
        watch,
        write,
    )

__all__ = [
    "annotate_pipeline",
    "counter",
    "enabled",
    "instant",
    "memory",
    "profile",
    "report",
    "reset",
    "run_dir",
    "schedule",
    "set_metadata",
    "snapshot",
    "stage",
    "step",
    "timeline",
    "watch",
    "write",
    "__version__",
]
