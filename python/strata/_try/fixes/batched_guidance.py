"""batched_guidance:MODULE: the two passes of guidance as one pass over a batch of both.

Programs with guidance call the model twice per step: with the prompt, and without it.

    step 1   A: latents 1, prompt     B: latents 1, nothing
    step 2   A: latents 2, prompt     B: latents 2, nothing

What differs within a step stays from step to step, so at A everything that B gets is known: both are
computed there, and B gets its half if it comes with exactly that."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, Unfit, module_argument, tensors_mapped

LEARNT = 4       # calls: two steps show what stays
MOST_WRONG = 2   # calls that came otherwise than expected, before it is given up
MOST_CALLS = 64  # without two passes per step, before it is given up
CLOSE = 2e-2     # of the norm: as far as outputs may differ to count as close


class _Call:
    """What the module was called with."""

    def __init__(self, args: tuple, kwargs: dict[str, Any]) -> None:
        self.given = args, kwargs
        self.tensors: list[Any] = []
        self.form = _form(self.given, self.tensors)
        self.versions = [_version(t) for t in self.tensors]

    def shares(self, other: _Call, i: int) -> bool:
        """Whether tensor `i` is the same one, unchanged."""
        a, b = self.tensors[i], other.tensors[i]
        same = a is b or (a.data_ptr() == b.data_ptr() and a.stride() == b.stride() and a.device == b.device)
        return same and self.versions[i] == other.versions[i]


class BatchedGuidance(Fix):
    name = "batched_guidance"
    takes = "MODULE"
    switches = True
    changes = ("Where the module is called twice per step, with the same latents and different prompts, "
               "it is called once with both.")
    safe = ("Inference, if memory suffices for a batch of two. The first such batch is compared with the "
            "two calls.")
    results = "Rounding: kernels for another batch size."
    order = 1

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        if arguments[1:]:
            super().read(arguments[1:])
        self.stays: list[int] | None = None  # tensors that differ within a step
        self.checked = False
        self.n_wrong = self.n_alone = 0
        self.pair: tuple[_Call, _Call] | None = None  # of the last step
        self._forget()

    @property
    def slot(self) -> str:
        return f"{self.name}:{self.module}"

    def settles_in(self, unit: str) -> int:
        """A call of a pipeline has all it needs in itself. Where calls of the module are timed, a block has
        to have several steps: a batch takes longer than a call, and the next call nothing."""
        if unit.startswith("call:"):
            return 0 if unit.endswith("Pipeline") else 2 * LEARNT
        return 2

    def _forget(self) -> None:
        self.calls: list[_Call] = []  # the last ones, while nothing is expected
        self.second: tuple[_Call, _Call, Any] | None = None  # A, the B before, what B is to get

    def on_module(self, module: Any) -> None:
        if self.is_training:
            raise Unfit("the program trains")
        self.wrap(module)

    def switch(self, on: bool) -> None:
        super().switch(on)
        self._forget()

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        torch = sys.modules["torch"]
        if torch.compiler.is_compiling():
            return plain(*args, **kwargs)
        now = _Call(args, kwargs)
        if self.second is not None:
            return self._answer(plain, now)
        if self.pair is not None and self._is_first(now):
            return self._both(torch, plain, now)
        self._learn(now)
        return plain(*args, **kwargs)

    # ---- what belongs together ----

    def _learn(self, now: _Call) -> None:
        self.calls = [*self.calls, now][-LEARNT:]
        needed = LEARNT if self.stays is None else 2
        self.n_alone += 1
        if self.n_alone > MOST_CALLS:
            raise Unfit("the module is not called twice per step with the same latents")
        if len(self.calls) < needed or len({c.form for c in self.calls[-needed:]}) > 1:
            return
        first, second = self.calls[-2:]
        stays = [i for i in range(len(now.tensors)) if not first.shares(second, i)]
        if needed == LEARNT and not self._repeats(stays):
            return
        if stays and len(stays) < len(now.tensors) and self.stays in (None, stays):
            self.stays, self.pair, self.calls = stays, (first, second), []

    def _repeats(self, stays: list[int]) -> bool:
        """Whether two steps differ within themselves in the same tensors, which stay, and not in others."""
        a, b, c, d = self.calls
        before = [i for i in range(len(a.tensors)) if not a.shares(b, i)]
        return before == stays and all(a.shares(c, i) and b.shares(d, i) for i in stays) and any(
            not a.shares(c, i) for i in range(len(a.tensors)) if i not in stays)

    def _is_first(self, now: _Call) -> bool:
        assert self.pair is not None and self.stays is not None
        first = self.pair[0]
        return now.form == first.form and all(now.shares(first, i) for i in self.stays)

    # ---- the two of them ----

    def _both(self, torch: Any, plain: Callable, now: _Call) -> Any:
        assert self.pair is not None and self.stays is not None
        if torch.is_grad_enabled() and any(t.requires_grad for t in now.tensors):
            raise Unfit("the module is called with gradients")
        before = self.pair[1]
        tensors = [before.tensors[i] if i in self.stays else t for i, t in enumerate(now.tensors)]
        rest = iter(tensors)
        other = tensors_mapped(now.given, lambda _: next(rest))
        size = next((t.shape[0] for t in now.tensors if t.dim() > 1), 0)
        args, kwargs = _joined(torch, now.given, other, size)
        results = _halves(plain(*args, **kwargs), size)
        if not self.checked:
            self._check(torch, results, (plain(*now.given[0], **now.given[1]), plain(*other[0], **other[1])))
            self.note(self, "site", **_place())
        self.checked, self.n_alone = True, 0
        self.second = now, before, results[1]
        return results[0]

    def _answer(self, plain: Callable, now: _Call) -> Any:
        assert self.second is not None and self.stays is not None
        first, before, result = self.second
        self.second = None
        if now.form == first.form and all(
                now.shares(before if i in self.stays else first, i) for i in range(len(now.tensors))):
            return result
        self.n_wrong += 1
        if self.n_wrong > MOST_WRONG:
            raise Unfit("its second call per step does not come with the inputs of the first")
        self._learn(now)
        return plain(*now.given[0], **now.given[1])

    def _check(self, torch: Any, results: tuple, alone: tuple) -> None:
        got: list[Any] = []
        wanted: list[Any] = []
        if _form(results, got) != _form(alone, wanted):
            raise Unfit("a batch of both gives results of another shape")
        for a, b in zip(got, wanted):
            far = torch.linalg.vector_norm((a - b).float())
            if not bool(far <= CLOSE * torch.linalg.vector_norm(b.float()) + 1e-6):
                raise Unfit("a batch of both gives something else: its parts are not independent")

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"# one call per step instead of two: {written} takes a batch",
                      f"both = {written}(torch.cat([latents, latents]), t, torch.cat([prompt, negative]))[0]",
                      "with_prompt, without = both.chunk(2)"])]


def _place() -> dict[str, Any]:
    from strata._try.inside import places
    return {"source": places.here(), "by": places.library()}


def _version(t: Any) -> int:
    try:
        return int(t._version)
    except (AttributeError, RuntimeError):  # made in inference mode: not counted
        return -1


def _form(value: Any, tensors: list[Any]) -> Any:
    """Everything about a value but the numbers in its tensors, which are put into the list."""
    torch = sys.modules["torch"]
    if isinstance(value, torch.Tensor):
        tensors.append(value)
        return tuple(value.shape), value.dtype, value.device
    if isinstance(value, dict):
        return type(value).__name__, tuple((k, _form(v, tensors)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return type(value).__name__, tuple(_form(v, tensors) for v in value)
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype, torch.device)):
        return value
    return type(value).__name__, id(value)


def _joined(torch: Any, a: Any, b: Any, size: int) -> Any:
    """Two values of one form as one for twice the batch."""
    if isinstance(a, torch.Tensor):
        if a.dim() and a.shape[0] == size:
            return torch.cat([a, b])
        if a is not b:
            raise Unfit("an input that differs between the two calls has no batch")
        return a
    if isinstance(a, dict):
        return {k: _joined(torch, v, b[k], size) for k, v in a.items()}
    if type(a) is list and len(a) == size and not any(isinstance(v, torch.Tensor) for v in a):
        return a + b  # one entry per picture
    if type(a) in (list, tuple):
        return type(a)(_joined(torch, x, y, size) for x, y in zip(a, b))
    return a


def _halves(value: Any, size: int) -> tuple[Any, Any]:
    def half(begin: int) -> Any:
        return tensors_mapped(value, lambda t: t[begin:begin + size] if t.dim() and t.shape[0] == 2 * size
                              else t)

    return half(0), half(size)
