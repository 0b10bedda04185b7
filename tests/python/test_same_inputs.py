"""What is computed again from the same inputs (analyze/findings/same_inputs.c). Programs and device as in
test_depth.py: a linear layer gets the same tensor in every step, or one that only looks the same."""
import sys

import pytest

from test_capture import capture  # noqa: F401
from test_depth import PROGRAM_START, run  # noqa: F401

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="as torch's operators are recorded")

START = PROGRAM_START + '''
tanh = """
def tanh(a):
    launch("tanh_kernel", a.numel() // 64)
    return a.new_empty(a.shape)
def sin(a):
    launch("sin_kernel", a.numel() // 16)
    return a.new_empty(a.shape)
"""
exec(compile(tanh, "/usr/lib/python3/site-packages/torch/operators.py", "exec"), space)
plain.impl("tanh", space["tanh"], "CPU")
plain.impl("sin", space["sin"], "CPU")

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(64, 64), requires_grad=False)

    def forward(self, text):
        for _ in range(8):
            text = torch.sin(torch.mm(text, self.w))
        return text

class Denoiser(nn.Module):
    def forward(self, x, text):
        for _ in range(8):
            x = torch.tanh(torch.tanh(x) + text)
        return x

encoder, denoiser, text = Encoder(), Denoiser(), torch.ones(64, 64)
for _ in range(20):  # in which the recorder finds out where torch keeps tensors
    torch.cat([text, text]).sum(1)

def sample(words, calls=8, steps=6):
    with torch.no_grad():
        for _ in range(calls):
            x = torch.rand(64, 64)
            for _ in range(steps):
                x = denoiser(x, encoder(words()))
'''


@pytest.fixture
def said(run):  # noqa: F811
    """What the report says is computed again; None if it says nothing."""
    def of(program, *options):
        found = run(START + program, *options).ask("report")["findings"]
        return next((f["why"] for f in found if "from the same inputs" in f["why"]), None)
    return of


def test_a_text_is_encoded_in_every_step(said):
    why = said("sample(lambda: text)")
    assert why and "aten::sin in Encoder" in why and "aten::mm in Encoder" in why
    assert "aten::tanh" not in why


def test_a_copy_of_it_is_the_same(said):
    why = said("""
class Copying(Encoder):
    def forward(self, text):
        return super().forward(text.clone())
encoder = Copying()
sample(lambda: text)
""")
    assert why and "aten::sin in Copying" in why


@pytest.mark.parametrize("words", [
    "text.add_(1)",  # written in place
    "torch.rand(64, 64)",  # another one, mostly where the last one was
    "torch.nn.functional.dropout(text)",
    "torch.from_numpy(text.numpy().copy())",  # made by what is no operator
])
def test_a_text_that_changes(said, words):
    assert said(f"sample(lambda: {words})") is None


def test_weights_that_change(said):
    assert said("sample(lambda: (encoder.w.mul_(0.9), text)[1])") is None


def test_a_program_that_measures_itself(said):
    """All of a step is the same as in the step before."""
    assert said("""
given = torch.rand(64, 64)
with torch.no_grad():
    for _ in range(60):
        denoiser(given, encoder(text))
""") is None


def test_tables_of_every_layer(said):
    """Twice within a unit counts, even then."""
    why = said("""
class Layers(nn.Module):
    def forward(self, x):
        for _ in range(8):
            x = torch.mm(x, torch.sin(torch.arange(64.)[:, None] * torch.arange(64.)))
        return x
layers, given = Layers(), torch.rand(64, 64)
with torch.no_grad():
    for _ in range(60):
        layers(given)
""")
    assert why and "aten::sin in Layers" in why and "aten::mm" not in why
