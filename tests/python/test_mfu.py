"""Operations of real models, counted from their traces and by torch's FlopCounterMode while they run. On
the CPU FlopCounterMode does not know fused attention, so these models multiply theirs."""
import json
import subprocess

import pytest

from conftest import PROGRAM

torch = pytest.importorskip("torch")
flop_counter = pytest.importorskip("torch.utils.flop_counter")


def llama():
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        hidden_size=64,
        intermediate_size=160,
        num_hidden_layers=2,
        vocab_size=200,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    config._attn_implementation = "eager"
    model, ids = transformers.LlamaForCausalLM(config), torch.randint(0, 200, (3, 17))
    return model, lambda: model(ids, labels=ids).loss


def unet():
    diffusers = pytest.importorskip("diffusers")
    from diffusers.models.attention_processor import AttnProcessor

    model = diffusers.UNet2DModel(
        sample_size=16,
        in_channels=3,
        out_channels=3,
        layers_per_block=1,
        norm_num_groups=8,
        block_out_channels=(16, 32),
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    for part in model.modules():
        if hasattr(part, "set_processor"):
            part.set_processor(AttnProcessor())
    image, when = torch.randn(2, 3, 16, 16), torch.tensor([3, 7])
    return model, lambda: model(image, when).sample.square().mean()


def convolutions():
    """Without groups: FlopCounterMode leaves them out of the gradient of the filters."""
    model = torch.nn.Sequential(
        torch.nn.Conv1d(4, 8, 5, stride=2, padding=3),
        torch.nn.ReLU(),
        torch.nn.Conv1d(8, 8, 3, dilation=2),
        torch.nn.ConvTranspose1d(8, 6, 4, stride=2),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(10),
    )
    x = torch.randn(3, 4, 40)
    model(x)
    return model, lambda: model(x).sum()


def grouped():
    model = torch.nn.Conv2d(8, 16, 3, groups=4, padding=1)
    x = torch.randn(2, 8, 9, 7)
    return model, lambda: model(x).sum()


def counted(path, forward, train):
    def step():
        with torch.set_grad_enabled(train):
            value = forward()
        if train:
            value.backward()

    step()
    with flop_counter.FlopCounterMode(display=False) as counter:
        step()
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profile:
        for i in range(3):
            with torch.profiler.record_function(f"ProfilerStep#{i}"):
                step()
    profile.export_chrome_trace(str(path))
    answer = subprocess.run(
        [PROGRAM, "report", str(path), "--whole", "--json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return counter.get_total_flops(), json.loads(answer.stdout)["mfu"]


@pytest.mark.parametrize("train", [False, True])
@pytest.mark.parametrize("make", [llama, unet, convolutions])
def test_operations_of_a_step_are_those_that_torch_counts(tmp_path, make, train):
    torch.manual_seed(0)
    _, forward = make()
    truth, found = counted(tmp_path / "trace.json", forward, train)
    assert found["steps"] == 3
    assert found["flop_per_step"] == pytest.approx(truth, rel=0.01)
    assert found["mfu_pct"] is None  # nobody says what this CPU can do


def test_groups_of_a_convolution_are_counted_forward_and_backward(tmp_path):
    truth, found = counted(tmp_path / "trace.json", grouped()[1], False)
    assert found["flop_per_step"] == truth == 2 * (2 * 16 * 9 * 7) * 2 * 3 * 3
    _, found = counted(tmp_path / "both.json", grouped()[1], True)
    assert found["flop_per_step"] == 2 * truth  # the image wants no gradient


def test_experts_are_counted(tmp_path):
    """A product of each token with one of several matrices, in one operator."""
    if not hasattr(torch, "_grouped_mm"):
        pytest.skip("this torch has no grouped product")
    tokens, experts = torch.randn(48, 32).bfloat16(), torch.randn(4, 32, 16).bfloat16()
    ends = torch.tensor([8, 16, 40, 48], dtype=torch.int32)
    try:
        torch._grouped_mm(tokens, experts, offs=ends)
    except RuntimeError as why:
        pytest.skip(f"not on this CPU: {why}")
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True
    ) as profile:
        torch._grouped_mm(tokens, experts, offs=ends)
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    answer = subprocess.run([PROGRAM, "report", str(tmp_path / "trace.json"), "--whole", "--json"],
                            capture_output=True, text=True, check=True, timeout=120)
    assert json.loads(answer.stdout)["mfu"]["flop_per_step"] == 2 * 48 * 32 * 16
