"""TeleFuser's StageBenchHarness: a stage alone, with inputs made from its signature; for a stage that
iterates over `dit` and `scheduler`, one step. `strata bench` does the same with statistics, and checks the
stage against the full run."""
from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

from strata._base import run_files
from strata.telefuser import breakdown, lines, one_step, places, signatures
from strata.telefuser.platforms import current_platform


@dataclasses.dataclass
class HarnessConfig:
    """How often, and where to."""

    warmup: int = 1
    profile_steps: int = 1
    output_dir: str | None = None
    capture_output: bool = False

    def __post_init__(self) -> None:
        if self.output_dir is None:
            self.output_dir = str(places.folder())


class StageBenchHarness:
    """One stage alone: setup() makes its inputs, profile() runs, times and traces it."""

    def __init__(self, stage_name: str, io_signature: dict[str, Any], stage_instance: Any = None,
                 config: HarnessConfig | None = None) -> None:
        self.stage_name = stage_name
        self.io_signature = signatures.ours(io_signature)
        self.stage_instance = stage_instance
        self.config = config or HarnessConfig()
        self.inputs: dict[str, Any] = {}
        self.output: Any = None
        self._call: Any = None

    @classmethod
    def from_signature_file(cls, signature_path: str, stage_name: str, stage_instance: Any = None,
                            config: HarnessConfig | None = None) -> StageBenchHarness:
        """A stage of a timing_io_signature.json, by its name or its path."""
        stages = _stages(signature_path)
        for path, found in stages.items():
            if stage_name in (path, path.rpartition("/")[2]):
                return cls(stage_name, found, stage_instance, config)
        raise ValueError(f"{signature_path} has no stage {stage_name!r}; it has {', '.join(stages)}")

    def _method(self) -> str:
        """The name of what was called when the signature was recorded, else process; empty where the
        stage itself is called."""
        recorded = str(self.io_signature.get("function", "")).rpartition(".")[2]
        return next((name for name in (recorded, "process")
                     if name and callable(getattr(self.stage_instance, name, None))), "")

    def _function(self) -> Callable:
        if self.stage_instance is None:
            raise ValueError("StageBenchHarness needs the stage: stage_instance=...")
        method = self._method()
        fn = getattr(self.stage_instance, method) if method else self.stage_instance
        return one_step.first_step_of(self.stage_instance, fn) if method and one_step.iterates(
            self.stage_instance) else fn

    def setup(self) -> None:
        """Makes the inputs; profile() does it otherwise. What cannot be made is left out."""
        from strata import mock
        from strata._pipeline.single_call import Alone, Maker
        maker = Maker()
        self.inputs = {}
        for name, described in self.io_signature["inputs"].items():
            try:
                self.inputs[name] = mock.build(described, maker)
            except ValueError as why:
                lines.tell(f"[Harness] Input '{name}' is left out: {why}")
        if self.stage_instance is not None:
            self._call = Alone(self._function(), self.inputs, generators=maker.generators)
        lines.tell(f"[Harness] Setup complete for stage '{self.stage_name}'")

    def run_single_step(self, inputs: dict[str, Any] | None = None) -> Any:
        """One step with these inputs, or those that setup() made; its result."""
        from strata._pipeline.single_call import Alone, modes
        if inputs is None and self._call is None:
            self.setup()
        call = self._call if inputs is None else Alone(self._function(), inputs)
        token = lines.alone.set(True)
        try:
            with modes(self.io_signature.get("mode", {})):
                call.prepare()
                return call()
        finally:
            lines.alone.reset(token)

    def profile(self, warmup: int | None = None, profile_steps: int | None = None,
                output_suffix: str = "") -> dict[str, Any]:
        """Times of `profile_steps` steps after `warmup`, and a trace of as many, with its breakdown and a
        script that does the same. Times are taken without the profiler."""
        from strata._pipeline.single_call import modes, record
        if self._call is None:
            self._function()  # raises where there is no stage
            self.setup()
        first = self.config.warmup if warmup is None else warmup
        steps = self.config.profile_steps if profile_steps is None else profile_steps
        token = lines.alone.set(True)
        try:
            with modes(self.io_signature.get("mode", {})):
                lines.tell(f"[Harness] Running {first} warmup iteration(s)...")
                self._times(first)
                lines.tell(f"[Harness] Running {steps} profile iteration(s)...")
                times = self._times(steps)
                profiler = record(self._call, self.stage_name, steps)
        finally:
            lines.alone.reset(token)
        table = breakdown.of(self.stage_name, profiler)
        written = self._write(profiler, table, first, steps, output_suffix)
        if times:
            lines.tell(f"[Harness] Average iteration time: {statistics.mean(times):.2f} ms")
        return {"stage_name": self.stage_name, "warmup": first, "profile_steps": steps,
                "timing_ms": times, "kernel_breakdown": table, "files": written}

    def _times(self, calls: int) -> list[float]:
        times = []
        for _ in range(calls):
            self._call.prepare()
            current_platform.synchronize()
            began = time.perf_counter()
            result = self._call()
            current_platform.synchronize()
            times.append((time.perf_counter() - began) * 1e3)
            self.output = result if self.config.capture_output else None
        return times

    def _write(self, profiler: Any, table: dict[str, Any], warmup: int, steps: int,
               suffix: str) -> dict[str, str]:
        folder = self.config.output_dir or "."
        stage = run_files.clean(self.stage_name)
        names = {"trace": f"{stage}{suffix}_trace.json.gz", "breakdown": f"{stage}{suffix}_breakdown.json",
                 "script": f"profile_{stage}.py"}
        written = {key: places.make_room(os.path.join(folder, name)) for key, name in names.items()}
        profiler.export_chrome_trace(written["trace"])
        lines.tell(f"[Harness] Chrome trace saved to: {written['trace']}")
        with open(written["breakdown"], "w", encoding="utf-8") as out:
            json.dump(table, out, indent=1)
        lines.tell(f"[Harness] Kernel breakdown saved to: {written['breakdown']}")
        with open(written["script"], "w", encoding="utf-8") as out:
            out.write(self._script(names, warmup, steps))
        lines.tell(f"[Harness] Test script saved to: {written['script']}")
        return written

    def generate_test_script(self) -> str:
        """The text of profile_{stage}.py."""
        stage = run_files.clean(self.stage_name)
        return self._script({"trace": f"{stage}_trace.json.gz", "script": f"profile_{stage}.py"},
                            self.config.warmup, self.config.profile_steps)

    def _script(self, names: dict[str, str], warmup: int, steps: int) -> str:
        from strata.telefuser import script
        facts = {"file": names["script"], "trace": names["trace"], "stage": self.stage_name,
                 "method": self._method() or "__call__", "mode": self.io_signature.get("mode", {}),
                 "warmup": warmup, "steps": steps}
        return script.text(facts, self.io_signature["inputs"])


def _stages(path: str) -> dict[str, Any]:
    with open(path, encoding="utf-8") as f:
        return json.load(f)["stages"]


def main() -> None:
    """Shows what a signature file has; a stage has to be loaded by a program."""
    parser = argparse.ArgumentParser(description="shows the stages of a timing_io_signature.json")
    parser.add_argument("--signature", required=True, help="timing_io_signature.json")
    parser.add_argument("--stage", help="the stage to show")
    parser.add_argument("--list_stages", action="store_true", help="list the stages of the file")
    for name in ("--warmup", "--profile_steps", "--output_dir"):
        parser.add_argument(name, help="of no use here: set it in HarnessConfig")
    options = parser.parse_args()
    stages = _stages(options.signature)
    if options.list_stages or options.stage is None:
        print("\n".join(stages))
        return
    if options.stage not in stages:
        parser.error(f"{options.signature} has no stage {options.stage!r}; it has {', '.join(stages)}")
    print(json.dumps({k: v for k, v in stages[options.stage].items() if k != "signatures"}, indent=1))
    print("To run it, pass the loaded stage to StageBenchHarness.from_signature_file in a program")


if __name__ == "__main__":
    main()
