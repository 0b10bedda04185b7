"""TeleFuser's StageBenchHarness: a stage alone, with inputs made from its signature. `strata bench` does
the same with statistics, and checks the stage against the full run."""
from __future__ import annotations

import dataclasses
import json
import os
import time
from collections.abc import Callable
from typing import Any

from strata._base import run_files, settings
from strata._timeline import breakdown


@dataclasses.dataclass
class HarnessConfig:
    """How often, and where to."""

    warmup: int = 1
    profile_steps: int = 1
    output_dir: str | None = None
    capture_output: bool = False


def _described(value: Any) -> dict[str, Any]:
    """A value of TeleFuser's signatures in the words of ours."""
    if isinstance(value, dict) and "shape" in value:
        return {"kind": "tensor", "stride": None, "device": "cpu", "requires_grad": False, **value,
                "dtype": str(value.get("dtype", "float32")).removeprefix("torch.")}
    if isinstance(value, list):
        return {"kind": "list", "items": [_described(v) for v in value]}
    return {"kind": "value", "value": value}


def _signature(given: dict[str, Any]) -> dict[str, Any]:
    """One signature of ours: as recorded, the first of several, or one of TeleFuser's files."""
    if "signatures" in given:
        return given["signatures"][0]
    if "inputs" in given:
        return given
    inputs = {**given.get("input_signatures", {}), **given.get("metadata", {})}
    return {"inputs": {name: _described(value) for name, value in inputs.items()}}


def _wait() -> None:
    from strata._base.device import find
    accelerator = find()
    if accelerator is not None:
        accelerator.synchronize()


class StageBenchHarness:
    """One stage alone: setup() makes its inputs, profile() runs, times and traces it."""

    def __init__(self, stage_name: str, io_signature: dict[str, Any], stage_instance: Any = None,
                 config: HarnessConfig | None = None) -> None:
        self.stage_name = stage_name
        self.io_signature = _signature(io_signature)
        self.stage_instance = stage_instance
        self.config = config or HarnessConfig()
        self.inputs: dict[str, Any] = {}
        self.output: Any = None
        self._call: Callable[[], Any] | None = None

    @classmethod
    def from_signature_file(cls, signature_path: str, stage_name: str, stage_instance: Any = None,
                            config: HarnessConfig | None = None) -> StageBenchHarness:
        """A stage of a timing_io_signature.json, by its name or its path."""
        with open(signature_path, encoding="utf-8") as f:
            stages = json.load(f)["stages"]
        for path, found in stages.items():
            if stage_name in (path, path.rpartition("/")[2]):
                return cls(stage_name, found, stage_instance, config)
        raise ValueError(f"{signature_path} has no stage {stage_name!r}; it has {', '.join(stages)}")

    def _function(self) -> Callable:
        """What was called when the signature was recorded, else process."""
        if self.stage_instance is None:
            raise ValueError("StageBenchHarness needs the stage: stage_instance=...")
        method = str(self.io_signature.get("function", "")).rpartition(".")[2]
        for name in (method, "process"):
            if name and callable(getattr(self.stage_instance, name, None)):
                return getattr(self.stage_instance, name)
        return self.stage_instance

    def setup(self) -> None:
        """Makes the inputs; profile() does it if nobody has."""
        from strata import mock
        from strata._pipeline.single_call import Alone
        self.inputs = mock.inputs(self.io_signature)
        self._call = Alone(self._function(), self.inputs)

    def profile(self, warmup: int | None = None, profile_steps: int | None = None,
                output_suffix: str = "") -> dict[str, Any]:
        """Times of `profile_steps` calls after `warmup`, and a trace of one, with its breakdown."""
        from strata._pipeline.single_call import modes, record
        if self._call is None:
            self.setup()
        call: Any = self._call
        first = self.config.warmup if warmup is None else warmup
        steps = self.config.profile_steps if profile_steps is None else profile_steps
        times = []
        with modes(self.io_signature.get("mode", {})):
            for i in range(first + steps):
                call.prepare()
                began = time.perf_counter()
                result = call()
                _wait()
                if i >= first:
                    times.append((time.perf_counter() - began) * 1e3)
            rows, written = self._trace(record(call, self.stage_name), output_suffix)
        self.output = result if self.config.capture_output else None
        settings.say(f"strata bench RUN --stage {self.stage_name} --entry MODULE:FUNCTION also compares "
                     f"with the full run, and writes profile_{self.stage_name}.py")
        return {"stage_name": self.stage_name, "warmup": first, "profile_steps": steps,
                "timing_ms": times, "kernel_breakdown": rows, "files": written}

    def _trace(self, profiler: Any, suffix: str) -> tuple[dict[str, Any], dict[str, str]]:
        folder = self.config.output_dir or run_files.folder() or "."
        os.makedirs(folder, exist_ok=True)
        stem = os.path.join(folder, run_files.clean(self.stage_name) + suffix)
        written = {"trace": f"{stem}_trace.json.gz", "breakdown": f"{stem}_breakdown.json"}
        profiler.export_chrome_trace(written["trace"])
        rows = breakdown.of(profiler)
        with open(written["breakdown"], "w", encoding="utf-8") as out:
            json.dump({"name": self.stage_name, **rows}, out, indent=1)
        return rows, written
