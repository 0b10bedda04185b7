"""profile_{stage}.py as the harness leaves it: makes the inputs of a stage, runs one step of it, measures and
traces that. Needs torch and a loaded stage, not strata.

What a signature says goes into the program as literals only, as in the scripts of `strata bench`."""
from __future__ import annotations

import inspect
from typing import Any

from strata._pipeline import single_call
from strata.telefuser import one_step

HEAD = '''"""Profiles the stage STAGE alone, with inputs like those of the recorded run.

With a loaded stage at hand:      from {module} import profile_stage; profile_stage(pipeline.the_stage)
From the command line:            python {file} MODULE:EXPRESSION [--warmup N] [--profile_steps N]
where EXPRESSION finds the stage: my_pipeline:get_pipeline().denoise_stage"""
import os
import sys

os.environ.setdefault("STRATA", "off")

STAGE = {stage!r}
METHOD = {method!r}  # of the stage
MODE = {mode!r}  # of torch, as recorded


def create_inputs(make=None):
    """The arguments, by name."""
    make = make or Maker()
    return {{
{inputs}    }}


def run_single_step(stage, inputs):
    """One step of a stage that has `dit` and `scheduler`; all of any other."""
    fn = getattr(stage, METHOD)
    args, kwargs = bind(fn, inputs)
    return (first_step_of(stage, fn) if iterates(stage) else fn)(*args, **kwargs)


def profile_stage(stage, warmup={warmup}, profile_steps={steps}, output_dir="."):
    """Times of `profile_steps` steps after `warmup`, then a trace of as many."""
    os.makedirs(output_dir, exist_ok=True)
    inputs = create_inputs()

    def wait():
        if hasattr(torch, "accelerator") and torch.accelerator.is_available():
            torch.accelerator.synchronize()

    class Step:
        prepare = staticmethod(lambda: None)
        __call__ = staticmethod(lambda: run_single_step(stage, inputs))

    times = []
    with modes(MODE):
        for i in range(warmup + profile_steps):
            wait()
            began = time.perf_counter()
            run_single_step(stage, inputs)
            wait()
            if i >= warmup:
                times.append((time.perf_counter() - began) * 1e3)
        path = os.path.join(output_dir, {trace!r})
        record(Step(), STAGE, profile_steps).export_chrome_trace(path)
    print(f"{{STAGE}}: {{statistics.mean(times):.2f}} ms per step, mean of {{len(times)}}")
    print(f"trace: {{path}}")
    return {{"stage_name": STAGE, "timing_ms": times, "trace": path}}


# What follows is the same in every such script.
'''

TAIL = '''

def main():
    import argparse
    import importlib
    parser = argparse.ArgumentParser(description=f"profiles the stage {STAGE} alone")
    parser.add_argument("stage", help="MODULE:EXPRESSION that loads the stage")
    parser.add_argument("--warmup", type=int, default=1)
    parser.add_argument("--profile_steps", type=int, default=1)
    parser.add_argument("--output_dir", default=".")
    options = parser.parse_args()
    module, _, expression = options.stage.partition(":")
    sys.path.insert(0, os.getcwd())
    stage = eval(expression, vars(importlib.import_module(module)))
    profile_stage(stage, options.warmup, options.profile_steps, options.output_dir)


if __name__ == "__main__":
    main()
'''


def text(facts: dict[str, Any], inputs: dict[str, dict[str, Any]]) -> str:
    """The whole script. `facts`: file, stage, method, mode, warmup, steps, trace."""
    head = HEAD.format(module=facts["file"].removesuffix(".py"), inputs=_lines(inputs), **facts)
    return (head + _without_head(single_call, "import contextlib") + "\n\n"
            + _without_head(one_step, "import functools") + TAIL)


def _lines(inputs: dict[str, dict[str, Any]]) -> str:
    from strata.bench.script import code
    lines = ""
    for name, d in inputs.items():
        try:
            lines += f"        {name!r}: {code(d)},\n"
        except ValueError as why:
            lines += f"        # {name!r}: ...,  {why}\n".replace("\r", " ")
    return lines


def _without_head(module: Any, first: str) -> str:
    """The text of a module from its first import on."""
    source = inspect.getsource(module)
    return source[source.index(first):]
