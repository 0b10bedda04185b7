"""The fix batched_guidance of `strata try`: on modules that are called twice per step, and on others that
only look so."""
import pytest

torch = pytest.importorskip("torch")

from strata._try import fixes  # noqa: E402
from strata._try.fixes.base import Unfit  # noqa: E402


class Denoiser(torch.nn.Module):
    """Two inputs with a batch, a number, a table without a batch, and a list with one entry per picture."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.mix = torch.nn.Linear(8, 8)
        self.sizes = []

    def forward(self, x, t, prompt=None, table=None, shapes=None):
        self.sizes.append(len(x))
        assert shapes is None or len(shapes) == len(x)
        return (torch.tanh(self.mix(x) + prompt * t) + (0 if table is None else table.mean()),)


def fixed(model, spec="batched_guidance:model"):
    fix = fixes.parse(spec)
    failed = []

    def off(which, why):
        failed.append(str(why))
        which.switch(False)

    fix.failed = off
    fix.is_shared = True
    fix.on_module(model)
    return fix, failed


@torch.no_grad()
def denoise(model, steps=6, both=True, n=1):
    """A loop with guidance as pipelines have it: the same latents and time for both calls."""
    torch.manual_seed(1)
    latents, prompt, nothing = torch.randn(n, 8), torch.randn(n, 8), torch.zeros(n, 8)
    table = torch.arange(6.0)
    for i in range(steps):
        t = torch.tensor(1 - i / steps)
        with_prompt = model(latents, t, prompt=prompt, table=table, shapes=[[(1, 2)]] * n)[0]
        without = model(latents, t, prompt=nothing, table=table, shapes=[[(1, 2)]] * n)[0] if both else 0
        latents = latents + 0.1 * (without + 4 * (with_prompt - without))
    return latents


@pytest.mark.parametrize("n", [1, 3])
def test_both_passes_become_one_batch(n):
    model = Denoiser()
    expected = denoise(model, n=n)
    model.sizes.clear()
    fix, failed = fixed(model)
    assert torch.allclose(denoise(model, n=n), expected, atol=1e-5) and not failed
    # two steps are looked at, the first batch is compared with both calls
    assert model.sizes == [n] * 4 + [2 * n, n, n] + [2 * n] * 3
    model.sizes.clear()
    assert torch.allclose(denoise(model, n=n), expected, atol=1e-5) and not failed
    assert model.sizes == [n] * 2 + [2 * n] * 5  # another prompt: one step shows it
    fix.switch(False)
    model.sizes.clear()
    assert torch.equal(denoise(model, n=n), expected)
    assert model.sizes == [n] * 12


def test_one_pass_per_step_stays_one():
    model = Denoiser()
    expected = denoise(model, 40, both=False)
    model.sizes.clear()
    _, failed = fixed(model)
    assert torch.equal(denoise(model, 40, both=False), expected)
    assert model.sizes == [1] * 40 and not failed
    denoise(model, 40, both=False)
    assert failed == ["the module is not called twice per step with the same latents"]


def test_parts_of_a_batch_that_see_each_other():
    class Normed(Denoiser):
        def forward(self, x, t, prompt=None, table=None, shapes=None):
            return (super().forward(x, t, prompt, table, shapes)[0] - (x * prompt).mean(),)

    model = Normed()
    expected = denoise(model)
    model.sizes.clear()
    _, failed = fixed(model)
    assert torch.allclose(denoise(model), expected, atol=1e-6)
    assert len(failed) == 1 and "not independent" in failed[0]


def test_prompts_of_other_lengths():
    class Summed(Denoiser):
        def forward(self, x, t, prompt=None, table=None, shapes=None):
            return super().forward(x, t, prompt.sum(1), table, shapes)

    model, x, t = Summed(), torch.randn(1, 8), torch.tensor(0.5)
    longer, shorter = torch.randn(1, 5, 8), torch.randn(1, 3, 8)
    _, failed = fixed(model)
    with torch.no_grad():
        for _ in range(40):
            x = x + 0.1 * (model(x, t, prompt=longer)[0] - model(x, t, prompt=shorter)[0])
    assert set(model.sizes) == {1} and failed


@torch.no_grad()
def test_a_second_call_that_comes_otherwise_is_answered_by_itself():
    model, prompt, nothing = Denoiser(), torch.randn(1, 8), torch.zeros(1, 8)
    plain = Denoiser()
    _, failed = fixed(model)
    t = torch.tensor(0.5)
    for i in range(12):
        x = torch.randn(1, 8)
        model(x, t, prompt=prompt)
        if i > 3:
            x = x.clone()
            x += 1
        assert torch.allclose(model(x, t, prompt=nothing)[0], plain(x, t, prompt=nothing)[0], atol=1e-6)
    assert not failed or "does not come with the inputs" in failed[0]


@torch.no_grad()
def test_latents_that_are_changed_in_place_between_the_calls():
    model, plain, prompt, nothing = Denoiser(), Denoiser(), torch.randn(1, 8), torch.zeros(1, 8)
    _, failed = fixed(model)
    x, t = torch.randn(1, 8), torch.tensor(0.5)
    for _ in range(12):
        x += 0.1 * model(x, t, prompt=prompt)[0]
        got = model(x, t, prompt=nothing)[0]
        assert torch.allclose(got, plain(x, t, prompt=nothing)[0], atol=1e-6)
        x -= 0.1 * got
    assert set(model.sizes) == {1} and not failed


def test_training_is_left_alone():
    fix = fixes.parse("batched_guidance:model")
    fix.is_training = True
    with pytest.raises(Unfit, match="trains"):
        fix.on_module(Denoiser())


@pytest.mark.parametrize("unit,units", [("call:WanPipeline", 0), ("call:Denoiser", 8), ("step:", 2)])
def test_blocks_are_long_enough_to_see_both_calls(unit, units):
    assert fixes.parse("batched_guidance:model").settles_in(unit) == units


@torch.no_grad()
def test_it_goes_on_in_the_middle_of_a_step():
    """Calls are units, so a fix may be switched between the two calls of a step."""
    model, plain, prompt, nothing = Denoiser(), Denoiser(), torch.randn(1, 8), torch.zeros(1, 8)
    fix, failed = fixed(model)
    x, t, n = torch.randn(1, 8), torch.tensor(0.5), 0
    for _ in range(40):
        results = []
        for given in (prompt, nothing):
            results.append(model(x, t, prompt=given)[0])
            assert torch.allclose(results[-1], plain(x, t, prompt=given)[0], atol=1e-6)
            n += 1
            if n % 13 == 0:
                fix.switch(not fix.is_on)
        x = x + 0.1 * (results[0] - results[1])
    assert not failed and model.sizes.count(2) > 12
