"""python -m strata.offload: modules, bytes and order against what accelerate and diffusers really
move, on a small pipeline and the CPU."""
import importlib.util
import json
import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FILE = ROOT / "python/strata/offload.py"
STRATA = Path(os.environ["STRATA_BUILD"]) / "src/strata"

spec = importlib.util.spec_from_file_location("strata_offload", FILE)
offload = importlib.util.module_from_spec(spec)
sys.modules["strata_offload"] = offload
spec.loader.exec_module(offload)


# ---- a real pipeline ----


@pytest.fixture
def pipe():
    torch = pytest.importorskip("torch")
    diffusers = pytest.importorskip("diffusers")
    torch.manual_seed(0)
    transformer = diffusers.FluxTransformer2DModel(
        patch_size=1, in_channels=4, num_layers=2, num_single_layers=3, attention_head_dim=16,
        num_attention_heads=2, joint_attention_dim=32, pooled_projection_dim=32,
        axes_dims_rope=[4, 4, 8])
    vae = diffusers.AutoencoderKL(
        sample_size=32, block_out_channels=(4,), layers_per_block=1, latent_channels=1,
        norm_num_groups=1, use_quant_conv=False, use_post_quant_conv=False, shift_factor=0.06,
        scaling_factor=1.5)
    made = diffusers.FluxPipeline(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(), text_encoder=None, tokenizer=None,
        text_encoder_2=None, tokenizer_2=None, vae=vae, transformer=transformer)
    made.set_progress_bar_config(disable=True)
    return made


def run(pipe):
    import torch
    pipe(prompt_embeds=torch.randn(1, 8, 32), pooled_prompt_embeds=torch.randn(1, 32), height=8,
         width=8, num_inference_steps=1, guidance_scale=1.0, output_type="np")


def size(t):
    return t.numel() * t.element_size()


def listed(units):
    return [(u.name, u.bytes) for u in units]


def test_sequential_is_what_accelerate_moves(pipe, monkeypatch):
    units = offload.list_modules(pipe, "sequential", lambda: run(pipe))
    import accelerate
    import torch
    from accelerate import hooks
    # the loop of enable_sequential_cpu_offload, which itself takes no "cpu"
    for model in (pipe.transformer, pipe.vae):
        accelerate.cpu_offload(model, torch.device("cpu"),
                               offload_buffers=len(model._parameters) > 0)
    names = {id(m): f"{c}.{n}" for c in ("transformer", "vae")
             for n, m in getattr(pipe, c).named_modules()}
    moved, move = {}, hooks.set_module_tensor_to_device

    def record(module, name, device, value=None, **more):
        if str(device) != "meta" and value is not None:
            moved.setdefault(names[id(module)], {})[name] = size(value)
        return move(module, name, device, value=value, **more)

    monkeypatch.setattr(hooks, "set_module_tensor_to_device", record)
    run(pipe)
    assert listed(units) == [(n, sum(t.values())) for n, t in moved.items()]
    assert [u.tensors for u in units] == [len(t) for t in moved.values()]
    assert len(units) > 40


def groups_moved(model, monkeypatch, work):
    """(leader, bytes) of the groups diffusers brings over while `work` runs, in order."""
    from diffusers.hooks import group_offloading
    seen, onload = {}, group_offloading.ModuleGroup.onload_

    def record(self):
        tensors = [t for m in self.modules for t in [*m.parameters(), *m.buffers()]]
        tensors += [*self.parameters, *self.buffers]
        seen.setdefault(id(self.onload_leader), sum({id(t): size(t) for t in tensors}.values()))
        return onload(self)

    monkeypatch.setattr(group_offloading.ModuleGroup, "onload_", record)
    work()
    names = {id(m): n for n, m in model.named_modules()}
    return [(names[leader], count) for leader, count in seen.items() if count]


@pytest.mark.parametrize("level, scheme", [("leaf_level", "group_leaf"),
                                           ("block_level", "group_block")])
def test_groups_are_what_diffusers_moves(pipe, monkeypatch, level, scheme):
    import torch
    model = pipe.transformer
    units = offload.list_modules(model, scheme, lambda: run(pipe), blocks_per_group=2)
    names = {id(m): n for n, m in model.named_modules()}
    model.enable_group_offload(onload_device=torch.device("cpu"), offload_type=level,
                               num_blocks_per_group=2)
    moved = groups_moved(model, monkeypatch, lambda: run(pipe))
    assert [(names[id(u.leader)], u.bytes) for u in units] == moved
    assert sum(u.bytes for u in units) == sum(size(p) for p in model.parameters())


def test_blocks_have_names_a_user_knows(pipe):
    units = offload.list_modules(pipe.transformer, "group_block", blocks_per_group=2)
    assert [u.name for u in units] == ["(rest)", "transformer_blocks.0-1",
                                       "single_transformer_blocks.0-1",
                                       "single_transformer_blocks.2"]


def test_buffers_outside_of_blocks_are_moved_twice():
    """Once put away, the group of the rest holds a stale copy of them beside its modules' own."""
    diffusers = pytest.importorskip("diffusers")
    model = diffusers.SD3Transformer2DModel(
        sample_size=8, num_layers=2, attention_head_dim=8, num_attention_heads=2,
        joint_attention_dim=16, caption_projection_dim=16, pooled_projection_dim=16,
        pos_embed_max_size=8)
    rest, *blocks = offload.list_modules(model, "group_block")
    assert rest.name == "(rest)"
    assert rest.as_dict()["moved_bytes"] == rest.bytes + size(model.pos_embed.pos_embed)
    assert all("moved_bytes" not in b.as_dict() for b in blocks)


def test_model_offload_is_components_in_order(pipe, monkeypatch):
    units = offload.list_modules(pipe, "model", lambda: run(pipe))
    pipe.enable_model_cpu_offload(device="cpu")
    from accelerate import hooks
    moved, before = [], hooks.CpuOffload.pre_forward

    def record(self, module, *args, **kwargs):
        moved.append((type(module), sum(size(t) for t in module.state_dict().values())))
        return before(self, module, *args, **kwargs)

    monkeypatch.setattr(hooks.CpuOffload, "pre_forward", record)
    run(pipe)
    assert [(type(u.leader), u.bytes) for u in units] == moved
    assert [u.name for u in units] == ["transformer", "vae"]  # the VAE through decode()
    assert listed(offload.list_modules(pipe, "model")) == listed(units)


def test_order_is_that_of_the_run_not_of_registration():
    torch = pytest.importorskip("torch")

    class Swapped(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.unused = (torch.nn.Linear(4, 4, bias=False) for _ in range(3))

        def forward(self, x):
            return self.a(self.b(x))

    model = Swapped()
    assert [u.name for u in offload.list_modules(model)] == ["a", "b", "unused"]
    ran = offload.list_modules(model, run=lambda: model(torch.zeros(1, 4)))
    assert listed(ran) == [("b", 64), ("a", 64)]
    assert not model.a._forward_pre_hooks


def test_flops_are_those_up_to_the_next_unit():
    torch = pytest.importorskip("torch")

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = (torch.nn.Linear(8, 8, bias=False) for _ in range(2))

        def forward(self, x):
            x = self.a(x)
            return self.b(x @ x.mT @ x)

    model = Attention()
    units = offload.list_modules(model, run=lambda: [model(torch.zeros(4, 8)) for _ in range(3)])
    # a call each: a linear of 4 rows; two products of 4 x 8 and 8 x 4 belong to what ran before
    assert [u.flops for u in units] == [2 * 4 * 8 * 8 + 2 * (2 * 4 * 8 * 4), 2 * 4 * 8 * 8]


def test_shared_tensors_count_once():
    torch = pytest.importorskip("torch")
    tied = torch.nn.Linear(8, 8, bias=False)
    tied.again = tied.weight
    assert listed(offload.list_modules(tied)) == [("", 256)]


# ---- files ----


def safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, count in tensors.items():
        header[name] = {"dtype": "BF16", "shape": [count // 2], "data_offsets": [at, at + count]}
        at += count
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + bytes(16))
    return path


TENSORS = {
    "proj_out.weight": 50, "blocks.10.fc.weight": 20, "blocks.9.fc.bias": 2,
    "blocks.9.fc.weight": 20, "blocks.10.fc.bias": 2, "x_embedder.weight": 80, "blocks.9.norm": 4,
}
EXPECTED = [("x_embedder", 80), ("blocks.9", 4), ("blocks.9.fc", 22), ("blocks.10.fc", 22),
            ("proj_out", 50)]


def test_headers_of_safetensors_files(tmp_path):
    assert listed(offload.read_safetensors(safetensors(tmp_path / "m.safetensors", TENSORS))) \
        == EXPECTED


def test_a_folder_of_shards_is_one_model(tmp_path):
    names = list(TENSORS)
    for i, part in enumerate((names[:3], names[3:])):
        safetensors(tmp_path / f"model-{i}.safetensors", {n: TENSORS[n] for n in part})
    assert listed(offload.read_safetensors(tmp_path)) == EXPECTED


@pytest.mark.parametrize("content", [b"", b"short", struct.pack("<Q", 1 << 60) + b"{}",
                                     struct.pack("<Q", 4) + b"[1,2", b"<!DOCTYPE html>"])
def test_what_is_no_safetensors_file_is_told(tmp_path, content):
    path = tmp_path / "x.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="x.safetensors: not a safetensors file"):
        offload.read_safetensors(path)


# ---- the command ----


def command(*args, cwd=None):
    """Runs without torch: the interpreter is told that there is none."""
    code = ("import sys, runpy; sys.modules['torch'] = None; sys.argv = sys.argv[1:];"
            f"runpy.run_path({str(FILE)!r}, run_name='__main__')")
    return subprocess.run([sys.executable, "-c", code, "offload.py", *args], cwd=cwd, text=True,
                          capture_output=True, check=False)


def test_list_works_without_torch_and_strata_reads_it(tmp_path):
    safetensors(tmp_path / "m.safetensors", {n: c * 1000000 for n, c in TENSORS.items()})
    done = command("list", "m.safetensors", "-o", "modules.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "5 modules, 0.18 GB, order guessed" in done.stderr
    found = [json.loads(subprocess.run(
        [STRATA, "offload", "--modules", file, "--resident", "100MB", "--json"], cwd=tmp_path,
        capture_output=True, check=True).stdout) for file in ("modules.json", "m.safetensors")]
    assert found[0] == found[1]
    assert found[0]["model"]["bytes"] == 178000000
    assert found[0]["model"]["modules"] == 5


def test_list_of_a_factory(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "made.py").write_text(
        "import torch\ndef make():\n    m = torch.nn.Sequential(torch.nn.Linear(4, 4))\n"
        "    return m, lambda: m(torch.zeros(1, 4))\n")
    done = subprocess.run([sys.executable, FILE, "list", "made:make"], cwd=tmp_path, text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["order"] == "executed"
    assert found["modules"] == [{"name": "0", "bytes": 80, "tensors": 2, "flops": 2 * 4 * 4}]


def test_mistakes_are_told(tmp_path):
    assert "neither a .safetensors file nor" in command("list", "nothing", cwd=tmp_path).stderr
    done = command("list", "no_such_module:make", cwd=tmp_path)
    assert done.returncode == 3 and "no_such_module" in done.stderr


def test_calibrate_needs_a_device():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(RuntimeError, match="(?i)cuda|device|GPU"):
        offload.calibrate()


def test_spread():
    assert offload.spread([3.0, 1.0, 2.0]) == {
        "gb_per_s": 2.0, "p10_gb_per_s": 1.0, "p90_gb_per_s": 3.0}
    assert offload.spread([float(i) for i in range(1, 101)]) == {
        "gb_per_s": 50.0, "p10_gb_per_s": 10.0, "p90_gb_per_s": 90.0}


@pytest.mark.parametrize("text", ["{}", "[]", '{"rates": {"pinned": {}}}', "not json"])
def test_strata_refuses_what_is_no_calibration(tmp_path, text):
    (tmp_path / "rates.json").write_text(text)
    done = subprocess.run([STRATA, "offload", "--model-bytes", "1GB", "--calibration",
                           "rates.json"], cwd=tmp_path, text=True, capture_output=True,
                          check=False)
    assert done.returncode == 3
    assert "rates.json" in done.stderr and "not a calibration" in done.stderr


def test_strata_takes_a_calibration_over(tmp_path):
    rates = {"rates": {"pageable": offload.spread([7.0]), "pinned": offload.spread([21.0]),
                       "to_host": offload.spread([3.0])}}
    (tmp_path / "rates.json").write_text(json.dumps(rates))
    done = subprocess.run([STRATA, "offload", "--model-bytes", "21GB", "--calibration",
                           "rates.json", "--json"], cwd=tmp_path, capture_output=True, check=True)
    found = json.loads(done.stdout)
    steps = {p["host_memory"]: p["step_ms"] for p in found["predictions"]
             if p["policy"] == "stream_all"}
    assert steps == {"pageable": pytest.approx(3000, 0.001), "pinned": pytest.approx(1000, 0.001)}
    assert found["rates"]["pinned"]["from"] == "measured"
    assert found["rates"]["to_host"]["gb_per_s"] == 3


def test_what_comes_back_is_written_to_new_memory(tmp_path):
    rates = {"rates": {"pageable": offload.spread([7.0]), "to_host": offload.spread([12.0])},
             "first_touch_gb_per_s": 1.5}
    (tmp_path / "rates.json").write_text(json.dumps(rates))
    done = subprocess.run([STRATA, "offload", "--model-bytes", "21GB", "--calibration",
                           "rates.json", "--json"], cwd=tmp_path, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found["rates"]["to_host"]["gb_per_s"] == 1.5
    first = {p["host_memory"]: p["first_step_ms"] for p in found["predictions"]
             if p["policy"] == "model_offload"}
    assert first["pageable"] == pytest.approx(3000 + 14000, 0.001)
