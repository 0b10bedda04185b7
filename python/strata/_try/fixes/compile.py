"""compile:MODULE[:MODE][:blocks]: torch.compile of one part of the program."""
from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import (
    Fix,
    FixError,
    Note,
    Unfit,
    alone,
    module_argument,
    option,
    tensors_mapped,
)

MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
BACKENDS = ("eager", "aot_eager", "inductor", "cudagraphs")
MOST_LISTS = 3  # of blocks for which code is shown
_GRAPHED = ("reduce-overhead", "max-autotune", "cudagraphs")


class Compile(Fix):
    name = "compile"
    takes = "MODULE[:MODE][:blocks]"
    changes = ("torch.compile of the module; MODE is default, reduce-overhead, max-autotune or "
               "max-autotune-no-cudagraphs, or a backend of torch.compile. With blocks, its repeated "
               "blocks are compiled one by one, which compiles faster.")
    safe = ("The module's code has to be traceable; shapes that change cause it to be compiled "
            "again. Results of reduce-overhead are copied, because the next call overwrites them.")
    results = "Rounding: fused kernels round in other places."
    order = 1
    switches = True
    set_up_s = 60.0

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments)
        self.how, self.blocks, self.has_compiled = "default", False, False
        for word in arguments[1:]:
            if word == "blocks":
                self.blocks, self.set_up_s = True, 15.0
            elif word in MODES or word in BACKENDS:
                self.how = word
                self.set_up_s = 2.0 if word in BACKENDS[:2] else self.set_up_s
            else:
                raise FixError(f"compile: unknown mode '{word}'. Available: "
                               f"{', '.join((*MODES, *BACKENDS, 'blocks'))}.")

    @property
    def slot(self) -> str:
        return f"run:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        rule, target = finding.get("rule"), module or "model"
        if rule == "launch_bound":
            found = []
            compiled, graphed = option(finding, "compile"), option(finding, "cuda_graph")
            if compiled is not None:
                found.append((f"compile:{target}", compiled))
            if graphed is not None:
                found.append((f"compile:{target}:reduce-overhead", graphed))
            return found
        if rule == "unfused_chain":
            return [(f"compile:{target}", alone(finding))]
        return []

    def _options(self) -> dict[str, Any]:
        if self.how in BACKENDS:
            return {"backend": self.how}
        return {"mode": self.how} if self.how != "default" else {}

    def seen_of(self, module: Any) -> dict[str, Any]:
        """`lists` has those of its blocks, and whether their class is torch's own; it is empty if the module
        compiles its blocks itself, as those of diffusers do."""
        from strata.bench.modes import block_lists, is_of_torch
        found: dict[str, Any] = {"is_of_torch": is_of_torch(module)}
        if self.blocks and getattr(module, "_repeated_blocks", None) and hasattr(
                module, "compile_repeated_blocks"):
            found["lists"] = {}
        elif self.blocks and block_lists(module):
            found["lists"] = {name: is_of_torch(members[0]) for name, members in block_lists(module).items()}
        return found

    def on_module(self, module: Any) -> None:
        from strata._try.inside import modules
        from strata.bench.modes import compiled_call
        for part in _repeated(module) if self.blocks else [module]:
            compiled = compiled_call(part, **self._options())
            modules.around(part, functools.partial(self._either, compiled))
        self.wrap(module)

    def _either(self, compiled: Callable, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        return (compiled if self.is_on else plain)(*args, **kwargs)

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        graphed, torch = self.how in _GRAPHED, sys.modules["torch"]
        before = -1 if self.has_compiled else _compiled_so_far()
        if graphed and not torch.is_grad_enabled():  # else a backward pass may still need what was returned
            torch.compiler.cudagraph_mark_step_begin()
        try:
            result = plain(*args, **kwargs)
        except Exception as why:
            if type(why).__module__.startswith(("torch._dynamo", "torch._inductor")):
                self.failed(self, why)  # whatever the program would make of it
            raise
        if _compiled_so_far() == before:
            raise Unfit("torch.compile has compiled nothing of it")
        self.has_compiled = True
        return tensors_mapped(result, _copy) if graphed else result

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        options = ", ".join(f'{k}="{v}"' for k, v in self._options().items())
        lines = [f"{written}.compile({options})"]
        if self.blocks and seen.get("lists"):
            lines = _loops(written, seen["lists"], options)
        elif self.blocks and "lists" in seen:
            lines = [f"{written}.compile_repeated_blocks({options})"]
        elif seen.get("is_of_torch"):  # its compile() has no effect
            lines = [f"{written} = torch.compile({', '.join(filter(None, (written, options)))})"]
        if self.how in _GRAPHED and not seen.get("trains"):
            lines.append("# before each call: torch.compiler.cudagraph_mark_step_begin(), and clone() "
                         "results that outlive the next one")
        return [Note(lines, after=written)]


def _compiled_so_far() -> int:
    """Graphs that torch.compile has made in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    return int(utils.counters["stats"]["unique_graphs"]) if utils is not None else 0


def _copy(t: Any) -> Any:
    return t.clone()


def _loops(written: str, lists: dict[str, bool], options: str) -> list[str]:
    """Each list of blocks in a loop of its own."""
    lines = []
    for name, of_torch in list(lists.items())[:MOST_LISTS]:
        path = re.sub(r"\.(\d+)(?=\.|$)", r"[\1]", f"{written}.{name}" if name else written)
        if of_torch:  # compile() of a module has no effect
            lines += [f"for i, block in enumerate({path}):",
                      f"    {path}[i] = torch.compile({', '.join(filter(None, ('block', options)))})"]
        else:
            lines += [f"for block in {path}:", f"    block.compile({options})"]
    return lines + (["# and so on for the other lists"] if len(lists) > MOST_LISTS else [])


def _repeated(module: Any) -> list[Any]:
    """The blocks that the module repeats; the module itself if there are none."""
    from strata.bench.modes import repeated_blocks
    return repeated_blocks(module) or [module]
