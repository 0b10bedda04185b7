"""Code written for TeleFuser's profiler runs with the import changed."""
import asyncio
import json
import time

import pytest


@pytest.fixture
def telefuser(strata):
    from strata import telefuser
    return telefuser


def test_context_and_decorator(telefuser):
    @telefuser.ProfilingContext("decode", reset_peak_memory=False)
    def decode(x):
        return x + 1

    @telefuser.ProfilingContext("fetch")
    async def fetch():
        await asyncio.sleep(0)
        return 3

    async def main():
        async with telefuser.ProfilingContext("block", capture_memory=True):
            return await fetch()

    assert decode(1) == 2 and asyncio.run(main()) == 3
    with telefuser.ProfilingContext("plain") as context:
        assert context.name == "plain"
    with pytest.raises(KeyError):
        with telefuser.ProfilingContext("fails"):
            raise KeyError
    stages = telefuser.get_timing_report()["stages"]
    assert set(stages) == {"decode", "block", "block/fetch", "plain", "fails"}
    assert stages["fails"]["errors"] == 1 and stages["fails"]["count"] == 0


def test_debug_context_is_nothing_by_default(telefuser):
    def fn():
        return 1

    assert telefuser.ProfilingContext4Debug("x")(fn) is fn
    with telefuser.ProfilingContext4Debug("x"):
        pass
    assert telefuser.get_timing_report()["stages"] == {}


def test_registry(telefuser, tmp_path, capsys):
    telefuser.reset_timing_registry("req_1", {"steps": 4})
    with telefuser.ProfilingContext("a"):
        time.sleep(0.001)
    telefuser.set_timing_metadata("seed", 7)
    report = telefuser.get_timing_report()
    assert report["request_id"] == "req_1" and report["metadata"] == {"steps": 4, "seed": 7}
    for key in ("timestamp", "wall_clock_ms", "total_stages_ms", "num_stages"):
        assert key in report
    assert report["stages"]["a"]["duration_ms"] > 0 and "percentage" in report["stages"]["a"]
    path = telefuser.dump_timing_report(str(tmp_path / "deep" / "timing.json"))
    assert json.loads(open(path, encoding="utf-8").read())["stages"]["a"]["count"] == 1
    telefuser.print_timing_summary()
    assert "a " in capsys.readouterr().out


def test_signatures(telefuser, tmp_path):
    @telefuser.ProfilingContext("stage")
    def stage(latents, steps=4):
        return latents

    stage([1, 2])
    assert list(telefuser.get_io_signatures()) == ["stage"]
    path = telefuser.dump_io_signatures(str(tmp_path / "sig.json"))
    assert "latents" in open(path, encoding="utf-8").read()


def test_memory_functions(telefuser, capsys):
    telefuser.set_memory_baseline()
    assert set(telefuser.record_memory_snapshot("x")) == {
        "allocated_mb", "reserved_mb", "peak_allocated_mb", "peak_reserved_mb"}
    telefuser.capture_memory_snapshot()
    assert "x" in telefuser.get_memory_analysis()["snapshots"]
    telefuser.print_memory_analysis()
    assert "baseline" in capsys.readouterr().out
    telefuser.reset_peak_memory_stats()
    telefuser.mark_as_worker_process()


def test_compare(telefuser):
    before = {"stages": {"a": {"duration_ms": 100.0}, "gone": {"duration_ms": 1.0}}}
    after = {"stages": {"a": {"duration_ms": 90.0}, "new": {"duration_ms": 2.0}}}
    text = telefuser.compare_timing_reports(before, after)
    assert "| a | 100 ms | 90.0 ms | -10.0 % |" in text
    assert "| gone | 1.00 ms | - | - |" in text and "| new | - | 2.00 ms | - |" in text


def test_places(program, tmp_path):
    done = program("""
        from strata import telefuser
        telefuser.set_pipeline_name("wan")
        telefuser.set_profiler_output_dir("elsewhere")
        with telefuser.ProfilingContext("a"):
            pass
        print(telefuser.get_profiler_output_dir())
    """, STRATA_TABLE="off")
    assert done.status == 0, done.stderr
    assert done.stdout.startswith(str(tmp_path / "elsewhere" / "wan"))
    assert list((tmp_path / "elsewhere" / "wan").glob("*/timing.json"))


def test_debug_context_when_asked_for(program):
    done = program("""
        from strata import telefuser
        with telefuser.ProfilingContext4Debug("debug"):
            pass
    """, TELEFUSER_PROFILE_DEBUG="true", STRATA_TABLE="off")
    assert list(done.json()["stages"]) == ["debug"]


def test_off(program):
    done = program("""
        from strata import telefuser as t
        def fn(): return 1
        assert t.ProfilingContext("a")(fn) is fn
        with t.ProfilingContext("a", capture_memory=True): pass
        t.reset_timing_registry(); t.print_timing_summary(); t.enable_profiler_for_names("a")
        assert t.dump_timing_report() is None and t.get_io_signatures() == {}
        t.set_pipeline_name("x"); t.set_profiler_output_dir("y")
        assert t.get_memory_analysis()["snapshots"] == {}
    """, STRATA="off")
    assert (done.status, done.stderr) == (0, "")
