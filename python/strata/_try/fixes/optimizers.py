"""fused_optimizer and foreach_optimizer: the step of an optimizer in few kernels."""
from __future__ import annotations

import functools
import weakref
from typing import Any

from strata._try.fixes.base import Already, Fix, Note, alone

SCALES = "_step_supports_amp_scaling"
FUSED = ("Adam", "AdamW", "SGD", "Adagrad")


class _Optimizer(Fix):
    order = 3
    switches = True
    sets, drops = "", ""
    unseen = "the program creates no torch optimizer with this option"

    @property
    def slot(self) -> str:
        return "optimizer"

    def read(self, arguments: list[str]) -> None:
        super().read(arguments)
        # With their own settings: those of their groups, and whether GradScaler leaves scaling to them.
        self.made: list[tuple[weakref.ref[Any], list[dict[str, Any]], Any]] = []
        self.already: list[str] = []  # optimizers that the program makes so itself

    def classes(self, optim: Any) -> list[Any]:
        raise NotImplementedError

    def on_torch(self, torch: Any) -> None:
        for cls in self.classes(torch.optim):
            self._patch(cls)

    def _patch(self, cls: Any) -> None:
        plain, fix = cls.__init__, self

        @functools.wraps(plain)
        def init(optimizer: Any, *args: Any, **kwargs: Any) -> None:
            if type(optimizer).__module__.startswith("torch."):
                from strata._try.inside import places
                if kwargs.get(fix.sets):
                    fix.already.append(cls.__name__)
                if fix.is_on:
                    kwargs.pop(fix.drops, None)
                    kwargs[fix.sets] = True
                fix.note(fix, "site", source=places.here(), call=cls.__name__, by=places.library())
            plain(optimizer, *args, **kwargs)
            own = [{k: g.get(k) for k in ("fused", "foreach")} for g in optimizer.param_groups]
            fix.made.append((weakref.ref(optimizer), own, getattr(optimizer, SCALES, None)))

        cls.__init__ = init

    def on_first_unit(self) -> None:
        if self.already and len(self.already) == len(self.made):
            names = ", ".join(dict.fromkeys(self.already))
            raise Already(f"the program makes {names} with {self.sets}=True already")

    def switch(self, on: bool) -> None:
        super().switch(on)
        for made, own, scales in self.made:
            optimizer = made()
            if optimizer is None:
                continue
            for group, settings in zip(optimizer.param_groups, own):
                group.update({self.sets: True, self.drops: False} if on else settings)
                _place_steps(optimizer, group)
            setattr(optimizer, SCALES, self.sets == "fused" if on else scales)

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        if seen.get("by", "").startswith("transformers."):
            chosen = "adamw_torch_fused" if self.sets == "fused" else "adamw_torch"
            return [Note([f'TrainingArguments(..., optim="{chosen}")'])]
        return [Note([f"{seen.get('call') or 'the optimizer'}(..., {self.sets}=True)"],
                     call={"set": {self.sets: "True"}, "drop": [self.drops]})]


class FusedOptimizer(_Optimizer):
    name = "fused_optimizer"
    changes = "Adam, AdamW, SGD and Adagrad are made with fused=True: one kernel for many tensors."
    safe = "With floating-point parameters on one kind of device."
    results = "Rounding of the updates."
    sets, drops = "fused", "foreach"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        return [(cls.name, alone(finding))] if finding.get("rule") == "unfused_optimizer" else []

    def classes(self, optim: Any) -> list[Any]:
        return [getattr(optim, name) for name in FUSED if hasattr(optim, name)]


class ForeachOptimizer(_Optimizer):
    name = "foreach_optimizer"
    changes = "Optimizers of torch are made with foreach=True: each operation on all tensors at once."
    safe = "If there is memory for one more copy of the parameters."
    results = "Rounding of the updates, if anything."
    sets, drops = "foreach", "fused"

    def classes(self, optim: Any) -> list[Any]:
        import inspect
        return [cls for cls in vars(optim).values() if isinstance(cls, type) and (
            "foreach" in inspect.signature(cls).parameters)]


def _place_steps(optimizer: Any, group: dict[str, Any]) -> None:
    """A fused optimizer counts its steps on the device, others on the CPU."""
    for p in group["params"]:
        step = optimizer.state.get(p, {}).get("step")
        if hasattr(step, "to"):
            optimizer.state[p]["step"] = step.to(
                p.device if group.get("fused") or group.get("capturable") else "cpu")
