"""Code written for TeleFuser's profiler runs with the import changed."""
import asyncio
import json
import os
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
    assert set(stages) == {"decode", "block", "fetch", "plain", "fails"}
    assert stages["fetch"]["path"] == "block/fetch"
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
    assert telefuser.get_memory_analysis() == {}
    baseline = telefuser.set_memory_baseline()
    shot = telefuser.record_memory_snapshot("x")
    assert isinstance(shot, telefuser.MemorySnapshot) and shot == baseline
    assert set(shot.to_dict()) == set(telefuser.get_memory_info()) == {
        "allocated_mb", "reserved_mb", "peak_allocated_mb", "peak_reserved_mb"}
    assert telefuser.capture_memory_snapshot("cuda:0").reserved_gb == 0
    assert telefuser.get_memory_snapshots() == {"x": shot}
    found = telefuser.get_memory_analysis()
    assert "x" in found["snapshots"] and found["memory_increase_gb"] == 0
    telefuser.print_memory_analysis()
    assert "baseline" in capsys.readouterr().out
    telefuser.reset_peak_memory_stats()
    telefuser.reset_memory_registry()
    assert telefuser.get_memory_analysis() == {}
    telefuser.mark_as_worker_process()


def test_memory_of_a_device(program):
    """The numbers TeleFuser gives: of the snapshot with the highest peak."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = program(f"""
        import sys
        sys.path.insert(0, {here!r})
        import fake_torch
        device = fake_torch.install()
        from strata import telefuser as t
        MB = 1 << 20
        device.allocate(100 * MB)  # the fake holds twice what is in use
        t.set_memory_baseline()
        device.allocate(300 * MB)
        high = t.record_memory_snapshot("high")
        assert (high.allocated_mb, high.reserved_mb, high.peak_reserved_mb) == (400, 800, 800)
        assert (high.pool_overhead_mb, high.pool_overhead_pct) == (400, 50)
        assert high.peak_reserved_gb == 800 / 1024
        device.free(350 * MB)
        t.record_memory_snapshot("low")
        a = t.get_memory_analysis()
        assert a["peak_reserved_mb"] == 800 and a["memory_increase_mb"] == 600, a
        assert a["total_device_memory_mb"] == 4e9 / MB
        assert a["remaining_memory_mb"] == 4e9 / MB - 800
        assert a["remaining_memory_gb"] == a["remaining_memory_mb"] / 1024
        assert a["snapshots"]["low"]["allocated_mb"] == 50
    """)
    assert done.status == 0, done.stderr


def test_the_registry(telefuser, tmp_path):
    registry = telefuser.reset_timing_registry("req_2")
    assert registry is telefuser.GlobalTimingRegistry.get_instance()
    with telefuser.ProfilingContext("a"):
        pass
    registry.set_metadata("steps", 4)
    registry.dump(str(tmp_path / "timing.json"))
    registry.dump_io_signatures(str(tmp_path / "signatures.json"))
    found = json.loads((tmp_path / "timing.json").read_text())
    assert found["request_id"] == "req_2" and found["metadata"] == {"steps": 4}
    assert "a" in registry.summary() and registry.get_io_signatures() == {}
    registry.finalize()


def test_compare(telefuser, tmp_path):
    before = {"stages": {"a": {"duration_ms": 100.0}, "gone": {"duration_ms": 1.0}}}
    after = {"stages": {"a": {"duration_ms": 90.0}, "new": {"duration_ms": 2.0}}}
    text = telefuser.compare_timing_reports(before, after)
    assert "| a | 100 ms | 90.0 ms | -10.0 % |" in text
    assert "| gone | 1.00 ms | - | - |" in text and "| new | - | 2.00 ms | - |" in text
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, report in zip(paths, (before, after)):
        path.write_text(json.dumps(report))
    assert telefuser.compare_timing_reports(*map(str, paths)) == text


def test_harness(telefuser, tmp_path):
    """Signatures of ours and of TeleFuser's own files; files and keys as it has them."""
    torch = pytest.importorskip("torch")

    class Stage:
        calls = 0

        @telefuser.ProfilingContext("denoise")
        def process(self, latents, steps=4, mask=None):
            Stage.calls += 1
            return latents * steps

    Stage().process(torch.ones(2, 3), steps=2)
    path = telefuser.dump_io_signatures(str(tmp_path / "signatures.json"))
    config = telefuser.HarnessConfig(warmup=2, profile_steps=3, output_dir=str(tmp_path / "out"),
                                     capture_output=True)
    harness = telefuser.StageBenchHarness.from_signature_file(path, "denoise", Stage(), config)
    Stage.calls = 0
    found = harness.profile(output_suffix="_a")
    assert found["stage_name"] == "denoise" and len(found["timing_ms"]) == 3
    assert Stage.calls >= 5 and harness.output.shape == (2, 3)
    assert any(row["name"] == "aten::mul" for row in found["kernel_breakdown"]["top_operators"])
    assert sorted(os.listdir(tmp_path / "out")) == ["denoise_a_breakdown.json", "denoise_a_trace.json.gz",
                                                     "profile_denoise.py"]
    theirs = {"input_signatures": {"latents": {"shape": [4, 4], "dtype": "torch.float32", "device": "cpu",
                                               "requires_grad": False}}, "metadata": {"steps": 3}}
    harness = telefuser.StageBenchHarness("denoise", theirs, Stage(), config)
    harness.profile(warmup=0, profile_steps=1)
    assert harness.output.shape == (4, 4) and harness.inputs["steps"] == 3
    with pytest.raises(ValueError, match="has no stage 'vae'; it has denoise"):
        telefuser.StageBenchHarness.from_signature_file(path, "vae")
    with pytest.raises(ValueError, match="stage_instance"):
        telefuser.StageBenchHarness.from_signature_file(path, "denoise").profile()


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
        assert t.get_memory_analysis() == {} and str(t.get_profiler_output_dir()) == "y"
    """, STRATA="off")
    assert (done.status, done.stderr) == (0, "")
