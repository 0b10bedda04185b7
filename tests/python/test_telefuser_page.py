"""TeleFuser's page on its profiler, paragraph by paragraph, with the import changed."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import clean_environment

torch = pytest.importorskip("torch")

# A stage as the page has them, and a loop of eight steps in it.
STAGES = """
    import asyncio, os, time, torch
    from strata.telefuser.profiler import (ProfilingContext, ProfilingContext4Debug, dump_io_signatures,
        enable_profiler_for_names, get_io_signatures, get_profiler_output_dir, get_timing_report,
        set_pipeline_name, set_profiler_output_dir)
    from strata.telefuser.stage_bench_harness import HarnessConfig, StageBenchHarness

    class Scheduler:
        def set_timesteps(self, num_inference_steps, shift=1.0):
            self.timesteps = torch.linspace(1, 0, num_inference_steps)
        def step(self, noise, timestep, latents):
            return latents - noise

    class Denoise:
        calls = steps = 0
        def __init__(self):
            self.dit, self.scheduler = torch.nn.Linear(4, 4), Scheduler()
        @ProfilingContext4Debug("denoise")
        @torch.inference_mode()
        def process(self, latents, prompt_emb_posi=None, *, cfg_scale=5.0, num_inference_steps=8,
                    sigma_shift=8.0, masks=()):
            Denoise.calls += 1
            self.scheduler.set_timesteps(num_inference_steps, shift=sigma_shift)
            for t in self.scheduler.timesteps:
                Denoise.steps += 1
                latents = self.scheduler.step(self.dit(latents), t, latents)
            return latents

    class Decode:
        @ProfilingContext4Debug("vae_decode")
        def process(self, latents):
            return torch.relu(latents)
"""


@pytest.fixture
def page(program, tmp_path):
    """page(text, **environment): the program, in a folder of its own, with nothing of ours set."""
    def run(text, **env):
        done = program(STAGES + text, STRATA_OUT="", **env)
        assert done.status == 0, done.stderr
        return done
    return run


def folders(tmp_path, name="default"):
    return sorted((tmp_path / "work_dirs" / "profiler_output" / name).glob("*"))


def test_output_location_and_signature_format(page, tmp_path):
    """Stage I/O Signature: the folder, its files, the keys."""
    done = page("""
    Denoise().process(torch.ones(2, 4), cfg_scale=3.0, masks=[torch.ones(2)])
    """, TELEFUSER_PROFILE_DEBUG="true", TELEFUSER_PIPELINE_NAME="wan21_t2v")
    (folder,) = folders(tmp_path, "wan21_t2v")
    assert re.fullmatch(r"\d{8}_\d{4}", folder.name)
    assert sorted(os.listdir(folder)) == ["timing.json", "timing_io_signature.json"]
    assert json.loads((folder / "timing.json").read_text())["stages"]["denoise"]["duration_ms"] > 0
    found = json.loads((folder / "timing_io_signature.json").read_text())
    assert found["request_id"].startswith("req_2") and found["timestamp"].startswith("2")
    stage = found["stages"]["denoise"]
    tensor = {"shape": [2, 4], "dtype": "float32", "device": "cpu", "requires_grad": False}
    assert stage["stage_name"] == "denoise" and stage["input_signatures"]["latents"] == tensor
    assert stage["input_signatures"]["masks"] == [{**tensor, "shape": [2]}]
    assert stage["input_signatures"]["cfg_scale"] == stage["metadata"]["cfg_scale"] == 3.0
    assert stage["output_signature"] == tensor
    where = f"work_dirs/profiler_output/wan21_t2v/{folder.name}"
    assert f"\n[Profiler] Timing report saved to: {where}/timing.json\n" in done.stderr
    assert f"\n[Profiler] I/O signature saved to: {where}/timing_io_signature.json\n" in done.stderr


def test_signatures_in_the_program(page):
    page("""
    Denoise().process(torch.ones(2, 4), cfg_scale=3.0)
    found = get_io_signatures()["denoise"]
    assert found["stage_name"] == found.stage_name == "denoise"
    assert found.input_signatures["latents"].shape == [2, 4] and found.output_signature.dtype == "float32"
    assert found["metadata"]["cfg_scale"] == 3.0
    """, TELEFUSER_PROFILE_DEBUG="true")


def test_harness(page, tmp_path):
    """Stage Bench Harness: one step of eight, the files, the lines, the top 50 kernels."""
    done = page("""
    stage = Denoise()
    stage.process(torch.ones(2, 4))
    path = dump_io_signatures()
    harness = StageBenchHarness.from_signature_file(signature_path=path, stage_name="denoise",
                                                    stage_instance=stage,
                                                    config=HarnessConfig(warmup=1, profile_steps=1))
    Denoise.calls = Denoise.steps = 0
    before = dict(vars(stage.scheduler))
    harness.setup()
    results = harness.profile()
    assert Denoise.calls == Denoise.steps == 4, (Denoise.calls, Denoise.steps)  # 1 + 1, 2 for the trace
    assert vars(stage.scheduler) == before  # as it was, with eight steps
    assert len(results["timing_ms"]) == 1 and results["stage_name"] == "denoise"
    rows = {row["name"]: row for row in results["kernel_breakdown"]["top_kernels"]}
    assert rows["aten::addmm"]["calls"] == 1
    assert harness.run_single_step().shape == (2, 4)
    """, TELEFUSER_PROFILE_DEBUG="true")
    (folder,) = folders(tmp_path)
    assert sorted(os.listdir(folder)) == ["denoise_breakdown.json", "denoise_trace.json.gz",
                                          "profile_denoise.py", "timing.json", "timing_io_signature.json"]
    table = json.loads((folder / "denoise_breakdown.json").read_text())
    assert table["name"] == "denoise" and 0 < len(table["top_kernels"]) <= 50
    assert table["num_kernels"] >= len(table["top_kernels"]) and table["total_kernel_time_ms"] > 0
    times = [row["ms"] for row in table["top_kernels"]]
    assert times == sorted(times, reverse=True)
    assert {"name", "ms", "cuda_ms", "cpu_ms"} <= set(table["top_kernels"][0])
    where = f"work_dirs/profiler_output/default/{folder.name}"
    lines = [line for line in done.stderr.splitlines() if line.startswith("[Harness]")]
    assert lines[:-1] == [
        "[Harness] Setup complete for stage 'denoise'",
        "[Harness] Running 1 warmup iteration(s)...",
        "[Harness] Running 1 profile iteration(s)...",
        f"[Harness] Chrome trace saved to: {where}/denoise_trace.json.gz",
        f"[Harness] Kernel breakdown saved to: {where}/denoise_breakdown.json",
        f"[Harness] Test script saved to: {where}/profile_denoise.py"]
    assert re.fullmatch(r"\[Harness\] Average iteration time: \d+\.\d\d ms", lines[-1])
    # The harness's own calls are no calls of the program.
    assert done.stderr.count("[Profile] denoise cost") == 1
    timing = json.loads((folder / "timing.json").read_text())["stages"]
    assert timing["denoise"]["count"] == 1 and "errors" not in timing["denoise"]


def test_generated_script(page, tmp_path):
    """Generated Test Script: runs with a loaded stage, one step, without strata."""
    page("""
    if __name__ == "__main__":
        stage = Denoise()
        stage.process(torch.ones(2, 4), cfg_scale=3.0)
        StageBenchHarness("denoise", get_io_signatures()["denoise"], stage).profile()
    """, TELEFUSER_PROFILE_DEBUG="true")
    (folder,) = folders(tmp_path)
    (tmp_path / "loaded.py").write_text("""
import torch
class Scheduler:
    def set_timesteps(self, steps, shift=1.0): self.timesteps = list(range(steps))
    def step(self, noise, t, latents): return latents
class Stage:
    dit, scheduler, seen = torch.nn.Linear(4, 4), Scheduler(), []
    def process(self, latents, cfg_scale):
        self.scheduler.set_timesteps(40)
        for t in self.scheduler.timesteps:
            self.seen.append((tuple(latents.shape), cfg_scale, t, len(self.scheduler.timesteps)))
            latents = self.scheduler.step(self.dit(latents), t, latents)
def get(): return Stage()
import atexit
atexit.register(lambda: print("steps:", set(Stage.seen), len(Stage.seen)))
""")
    env = {k: v for k, v in clean_environment().items() if k != "PYTHONPATH"}
    done = subprocess.run([sys.executable, folder / "profile_denoise.py", "loaded:get()", "--output_dir",
                           "there"], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "steps: {((2, 4), 3.0, 0, 2)} 4" in done.stdout
    assert os.listdir(tmp_path / "there") == ["denoise_trace.json.gz"]


def test_a_stage_without_steps(page, tmp_path):
    """One without dit and scheduler runs as a whole; integers stay in their range."""
    page("""
    class Embed:
        table = torch.nn.Embedding(8, 4)
        @ProfilingContext("embed")
        def encode(self, ids, prompt="x"):
            return self.table(ids)
    stage = Embed()
    stage.encode(torch.tensor([[0, 7, 3]]))
    path = dump_io_signatures("sig.json")
    harness = StageBenchHarness.from_signature_file(path, "embed", stage)
    assert harness.profile()["kernel_breakdown"]["top_kernels"]
    assert harness.run_single_step().shape == (1, 3, 4)
    """)


def test_basic_usage_and_console_logs(page):
    """Quick Start and Console Logs: context manager, decorator, async decorator; the two lines of a call."""
    done = page("""
    with ProfilingContext("my_operation"):
        pass
    async def in_a_coroutine():
        async with ProfilingContext("entered"):
            await asyncio.sleep(0)
    asyncio.run(in_a_coroutine())
    @ProfilingContext("my_function")
    def process_data(data):
        return data
    @ProfilingContext("async_operation")
    async def process_async(data):
        await asyncio.sleep(0.01)
        return data
    class Methods:
        @staticmethod
        @ProfilingContext("static")
        def static(x): return x
        @classmethod
        @ProfilingContext("of_class")
        def of_class(cls, x): return x
    assert process_data(1) == 1 and asyncio.run(process_async(2)) == 2
    assert Methods.static(3) == 3 and Methods.of_class(4) == 4
    """)
    for name in ("my_operation", "entered", "my_function", "async_operation", "static", "of_class"):
        assert re.search(rf"^\[Profile\] {name} cost \d+\.\d{{6}} seconds\n"
                         rf"Rank 0 - Function '{name}' Peak Memory: \d+\.\d\d GB$", done.stderr, re.M), name
    assert "strata" not in re.sub(r"(?m)^(strata:|next:).*", "", done.stderr).lower()


def test_costs_are_those_of_the_stage(page):
    """A first call's signature, a logger that is slow, a trace: none of it is in the cost."""
    done = page("""
    import logging
    class Slow(logging.Handler):
        def emit(self, record):
            time.sleep(0.05)
            print(record.getMessage())
    logging.getLogger("telefuser").addHandler(Slow())
    logging.getLogger("telefuser").setLevel("INFO")
    big = {f"weight {i}": [torch.ones(4) for _ in range(60)] for i in range(60)}
    @ProfilingContext("inner")
    def inner(x):
        return x
    @ProfilingContext("outer")
    def outer(x):
        with ProfilingContext("block"):
            pass
        return inner(x)
    enable_profiler_for_names("inner")
    outer(big)
    print(get_timing_report()["stages"]["inner"]["duration_ms"] / 1e3)
    """)
    costs = dict(re.findall(r"\[Profile\] (\w+) cost (\S+) seconds", done.stdout))
    assert set(costs) == {"inner", "outer", "block"}
    # Each of the three writes lines of 50 ms; inner's trace takes longer than that.
    assert all(float(cost) < 0.02 for cost in costs.values()), done.stdout


def test_environment_variables(page, tmp_path):
    """Environment Variables: the folder named is the folder itself."""
    for variable in ("TELEFUSER_PROFILER_OUTPUT_DIR", "PROFILER_OUTPUT_DIR"):
        page("""
    Decode().process(torch.ones(2))
    print(get_profiler_output_dir())
        """, TELEFUSER_PROFILE_DEBUG="true", **{variable: variable.lower()})
        assert (tmp_path / variable.lower() / "timing.json").exists()
    assert not (tmp_path / "work_dirs").exists()
    page("Decode().process(torch.ones(2))".join(("\n    ", "\n")), TELEFUSER_PROFILE_DEBUG="true",
         TELEFUSER_TIMING_REPORT="deep/report.json")
    assert sorted(os.listdir(tmp_path / "deep")) == ["report.json", "report_io_signature.json"]


def test_nothing_of_an_earlier_run_is_lost(page, tmp_path):
    for number in (1, 2):
        page(f"""
    set_profiler_output_dir("here")
    with ProfilingContext("run{number}"): pass
        """)
    for name, stage in (("timing.json", "run2"), ("timing_1.json", "run1")):
        assert list(json.loads((tmp_path / "here" / name).read_text())["stages"]) == [stage]


def test_controlling_activation(page, tmp_path):
    """Controlling Profiler Activation: names and folders from the program, at any time."""
    page("""
    with ProfilingContext("early"): pass
    from strata.telefuser.profiler import get_enabled_profiler_names
    enable_profiler_for_names("vae_decode,text_encoding")
    assert get_enabled_profiler_names() == {"vae_decode", "text_encoding"}
    set_pipeline_name("wan21_t2v")
    folder = get_profiler_output_dir()
    assert folder.parts[:3] == ("work_dirs", "profiler_output", "wan21_t2v"), folder
    set_profiler_output_dir("path/to/traces")
    assert str(get_profiler_output_dir()) == "path/to/traces"
    """)
    assert (tmp_path / "path" / "to" / "traces" / "timing.json").exists()


def test_enabled_names_and_trace_files(page, tmp_path):
    """Enable PyTorch Profiler, Distributed Support: NAME_rankR_runN.json for the names asked for."""
    text = """
    for _ in range(2):
        Decode().process(torch.ones(4))
    with ProfilingContext("other"): pass
    """
    done = page(text, TELEFUSER_PROFILE_DEBUG="true", ENABLE_PROFILER_NAMES="vae_decode,text_encoding",
                PROFILER_OUTPUT_DIR="profiler_output")
    said = [line for line in done.stderr.splitlines() if line.startswith("Rank 0 - ")]
    assert said[:2] == ["Rank 0 - Starting PyTorch profiler for 'vae_decode'", "Rank 0 - PyTorch profiler "
                        "trace saved to: profiler_output/vae_decode_rank0_run1.json"]
    assert re.fullmatch(r"Rank 0 - Profiler summary for 'vae_decode': Total operations: \d+", said[2])
    assert re.fullmatch(r"Rank 0 -   1\. .+: CPU=\d+\.\d\d ms, CUDA=(N/A|\d+\.\d\d ms)", said[3])
    assert "\nRank 0 -   " in done.stderr and "aten::relu: CPU=" in done.stderr
    here = tmp_path / "profiler_output"
    assert sorted(os.listdir(here)) == [
        "timing.json", "timing_io_signature.json", "vae_decode_rank0.breakdown.json",
        "vae_decode_rank0.trace.json.gz", "vae_decode_rank0_run1.json", "vae_decode_rank0_run2.json"]
    events = json.loads((here / "vae_decode_rank0_run1.json").read_text())["traceEvents"]
    assert any(e.get("name") == "aten::relu" for e in events)
    table = json.loads((here / "vae_decode_rank0.breakdown.json").read_text())
    assert table["rank"] == 0 and any(row["name"] == "aten::relu" for row in table["top_kernels"])
    page(text, TELEFUSER_PROFILE_DEBUG="true", ENABLE_PROFILER_NAMES="*", PROFILER_OUTPUT_DIR="all",
         RANK=1, WORLD_SIZE=2)
    assert {"other_rank1_run1.json", "vae_decode_rank1_run1.json", "timing_rank1.json"} <= set(
        os.listdir(tmp_path / "all"))


@pytest.mark.parametrize("value, on", [("false", False), ("0", False), ("yes", True), (None, True),
                                       ("perhaps", True)])
def test_profiler_flags(page, tmp_path, value, on):
    """TELEFUSER_TORCH_PROFILER_*: on unless switched off; a bad value is reported, and on."""
    flags = {f"TELEFUSER_TORCH_PROFILER_{name}": value
             for name in ("RECORD_SHAPES", "PROFILE_MEMORY", "WITH_STACK")}
    done = page("""
    Decode().process(torch.ones(4))
    """, TELEFUSER_PROFILE_DEBUG="true", ENABLE_PROFILER_NAMES="vae_decode", PROFILER_OUTPUT_DIR="here",
                **flags)
    events = json.loads((tmp_path / "here" / "vae_decode_rank0_run1.json").read_text())["traceEvents"]
    assert any("Input Dims" in e.get("args", {}) for e in events) == on
    assert any(e.get("name") == "[memory]" for e in events) == on
    assert any(e.get("cat") == "python_function" for e in events) == on
    assert ("TELEFUSER_TORCH_PROFILER_RECORD_SHAPES='perhaps'" in done.stderr) == (value == "perhaps")


def test_debug_contexts(page, tmp_path):
    """ProfilingContext vs ProfilingContext4Debug: the latter is nothing unless asked for."""
    text = """
    def plain(): return 1
    print(ProfilingContext4Debug("x")(plain) is plain)
    with ProfilingContext4Debug("y"): pass
    """
    done = page(text)
    assert done.stdout == "True\n" and done.stderr == "" and not (tmp_path / "work_dirs").exists()
    done = page(text, TELEFUSER_PROFILE_DEBUG="true")
    assert done.stdout == "False\n" and "[Profile] y cost" in done.stderr


def test_multiple_operations(page, tmp_path):
    """Profiling Multiple Operations: contexts inside a stage are found by their names."""
    page("""
    class TextEncodingStage:
        @ProfilingContext4Debug("text_encoding")
        @torch.inference_mode()
        def encode_text(self, prompts):
            with ProfilingContext4Debug("tokenization"):
                tokens = prompts
            with ProfilingContext4Debug("embedding"):
                return tokens
    TextEncodingStage().encode_text(["a"])
    """, TELEFUSER_PROFILE_DEBUG="true", PROFILER_OUTPUT_DIR="here")
    stages = json.loads((tmp_path / "here" / "timing.json").read_text())["stages"]
    assert {"text_encoding", "tokenization", "embedding"} == set(stages)


def test_reset_peak_memory(program):
    """Parameters: the peak of the call, or the accumulated one."""
    here = os.path.dirname(os.path.abspath(__file__))
    done = program(f"""
        import sys
        sys.path.insert(0, {here!r})
        import fake_torch
        device = fake_torch.install()
        from strata.telefuser import ProfilingContext
        GB = 1 << 30
        device.allocate(1)
        for name, reset in (("first", True), ("second", True), ("accumulated", False)):
            with ProfilingContext(name, reset_peak_memory=reset):
                if name == "first":
                    with ProfilingContext("inside"):
                        device.allocate(GB)  # the fake holds twice what is in use
                    device.free(GB)
    """)
    assert done.status == 0, done.stderr
    peaks = dict(re.findall(r"Function '(\w+)' Peak Memory: (\S+) GB", done.stderr))
    assert peaks["inside"] == peaks["first"] == peaks["accumulated"] == "2.00"
    assert peaks["second"] == "0.00"


def test_the_platform(page):
    """Missing GPU Activity, Memory Stats Not Accurate: current_platform."""
    done = page("""
    from strata.telefuser.platforms import current_platform
    from strata.telefuser import current_platform as same
    current_platform.synchronize()
    current_platform.empty_cache()
    print(current_platform.device_type, same is current_platform)
    """)
    assert done.stdout == ("cuda" if torch.cuda.is_available() else "cpu") + " True\n"


def test_the_command(page, tmp_path):
    """Stage Instance Not Available for CLI: it shows the signature."""
    page("""
    Denoise().process(torch.ones(2, 4))
    dump_io_signatures("sig.json")
    """, TELEFUSER_PROFILE_DEBUG="true")
    command = [sys.executable, "-m", "strata.telefuser.stage_bench_harness", "--signature", "sig.json"]
    for options, text in ((["--list_stages"], "denoise\n"), (["--stage", "denoise"], '"latents"')):
        done = subprocess.run([*command, *options], cwd=tmp_path, env=clean_environment(), text=True,
                              capture_output=True)
        assert done.returncode == 0 and text in done.stdout and "RuntimeWarning" not in done.stderr, done
    done = subprocess.run([*command, "--stage", "vae"], cwd=tmp_path, env=clean_environment(), text=True,
                          capture_output=True)
    assert done.returncode == 2 and "has no stage 'vae'; it has denoise" in done.stderr


def test_the_page_s_own_words(page):
    """One prefix changes: every name that the page imports is where it says."""
    from strata.telefuser import memory_snapshot, profiler, stage_bench_harness
    for module, names in ((profiler, "ProfilingContext ProfilingContext4Debug enable_profiler_for_names "
                           "set_profiler_output_dir set_pipeline_name get_profiler_output_dir"),
                          (profiler, "get_enabled_profiler_names"),
                          (stage_bench_harness, "StageBenchHarness HarnessConfig"),
                          (memory_snapshot, "record_memory_snapshot")):
        assert all(hasattr(module, name) for name in names.split())
    folder = Path(page("""
        print(HarnessConfig().output_dir)
    """).stdout.strip())
    assert folder.parts[:2] == ("work_dirs", "profiler_output")
