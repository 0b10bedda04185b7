"""graph:MODULE: calls of a module replayed as one CUDA graph."""
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from strata._try.fixes.base import Fix, Note, Unfit, module_argument, option, tensors_mapped

MOST_GRAPHS = 8  # shapes of inputs, each with a graph of its own
WARM_UP = 3


class Graph(Fix):
    name = "graph"
    takes = "MODULE"
    changes = ("Calls of the module are captured once per shape of its inputs as a CUDA graph and "
               "replayed: one launch instead of hundreds. Inputs are copied into memory that stays.")
    safe = ("Inference only. Nothing in the module may wait for the GPU, depend on values, or keep "
            "state in Python between calls; arguments that are not tensors must not change.")
    results = "Nothing: the same kernels run."
    order = 2
    switches = True
    set_up_s = 2.0

    def read(self, arguments: list[str]) -> None:
        self.module = module_argument(self.name, arguments[:1])
        self.graphs: dict[Any, _Graphed] = {}
        if arguments[1:]:
            super().read(arguments[1:])

    @property
    def slot(self) -> str:
        return f"run:{self.module}"

    @classmethod
    def from_finding(cls, finding: dict[str, Any], module: str) -> list[tuple[str, float]]:
        graphed = option(finding, "cuda_graph")
        if finding.get("rule") != "launch_bound" or graphed is None:
            return []
        return [(f"graph:{module or 'model'}", graphed)]

    def on_module(self, module: Any) -> None:
        if not sys.modules["torch"].cuda.is_available():
            raise Unfit("there is no CUDA device")
        self.wrap(module)

    def call(self, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> Any:
        torch = sys.modules["torch"]
        if torch.cuda.is_current_stream_capturing():
            return plain(*args, **kwargs)
        try:
            graphed = self._graph(torch, plain, args, kwargs)
        except Exception as why:
            self.failed(self, why)
            raise
        return graphed.replay(args, kwargs)

    def _graph(self, torch: Any, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> _Graphed:
        key = _key(torch, (args, kwargs)), self.together
        found = self.graphs.get(key)
        if found is None:
            if torch.is_grad_enabled() and any(t.requires_grad for t in _tensors(torch, (
                    args, kwargs))) or torch.is_grad_enabled() and _trains(plain):
                raise Unfit("the module is called with gradients: a graph replays inference")
            if len(self.graphs) >= MOST_GRAPHS:
                raise Unfit(f"more than {MOST_GRAPHS} graphs would be needed: shapes or other arguments "
                            "change from call to call")
            found = self.graphs[key] = _Graphed(torch, plain, args, kwargs)
        return found

    def code(self, written: str, seen: dict[str, Any]) -> list[Note]:
        return [Note([f"# once, after {WARM_UP} calls; inputs are the tensors {written} is called with",
                      "held, graph = [t.clone() for t in inputs], torch.cuda.CUDAGraph()",
                      f"with torch.cuda.graph(graph): out = {written}(*held)",
                      "# instead of each call; the next one overwrites out",
                      "for h, t in zip(held, inputs): h.copy_(t)",
                      "graph.replay()"])]


def _trains(plain: Any) -> bool:
    owner = getattr(plain, "__self__", None)
    return bool(owner is not None and owner.training and any(
        p.requires_grad for p in owner.parameters()))


def _tensors(torch: Any, value: Any) -> list[Any]:
    found: list[Any] = []

    def note(t: Any) -> Any:
        found.append(t)
        return t

    tensors_mapped(value, note)
    return found


def _key(torch: Any, value: Any) -> Any:
    """Calls with the same key can share a graph."""
    if isinstance(value, torch.Tensor):
        return (tuple(value.shape), value.dtype, tuple(value.stride()), value.device.type)
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_key(torch, v) for v in value))
    if isinstance(value, dict):
        return ("dict", *((k, _key(torch, v)) for k, v in value.items()))
    if value is None or isinstance(value, (bool, int, float, str, torch.dtype, torch.device)):
        return value
    raise TypeError(f"an argument of type {type(value).__name__} cannot be kept in place for a graph")


class _Graphed:
    """One captured call."""

    def __init__(self, torch: Any, plain: Callable, args: tuple, kwargs: dict[str, Any]) -> None:
        device = next((t.device for t in _tensors(torch, (args, kwargs)) if t.is_cuda), None)
        device = device or torch.device("cuda", torch.cuda.current_device())
        self.torch = torch
        self.args, self.kwargs = tensors_mapped(
            (args, kwargs), lambda t: t.detach().clone().to(device))
        self.held = _tensors(torch, (self.args, self.kwargs))
        side = torch.cuda.Stream(device)
        side.wait_stream(torch.cuda.current_stream(device))
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(WARM_UP):
                plain(*self.args, **self.kwargs)
        torch.cuda.current_stream(device).wait_stream(side)
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.device(device), torch.cuda.graph(self.graph):
            self.result = plain(*self.args, **self.kwargs)
        if not _tensors(torch, self.result):
            raise TypeError(f"its result of type {type(self.result).__name__} holds no tensors that "
                            "could be handed on")

    def replay(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        for held, given in zip(self.held, _tensors(self.torch, (args, kwargs))):
            held.copy_(given, non_blocking=True)
        self.graph.replay()
        return tensors_mapped(self.result, lambda t: t.clone())
