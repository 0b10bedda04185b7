"""The beginning of a process of a trial, before the program's own code: fixes are prepared, and hooks
wait for the unit."""
from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from typing import Any

from strata._base.on_import import when_imported
from strata._try.fixes import parse
from strata._try.fixes.base import Already, Unfit
from strata._try.inside import (
    device,
    function_output,
    modules,
    places,
    random_state,
    schedule,
    units,
)
from strata._try.inside.log import Log

FAILED = 97  # exit status of a process whose fix could not be applied


class Trial:
    """One process: its plan, its fixes and its units."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.log = Log(plan["folder"])
        self.units = units.Units(self.log, plan)
        self.fixes = sorted((parse(spec) for spec in plan.get("fixes", [])), key=lambda f: f.order)
        for fix in self.fixes:
            fix.note, fix.failed = self.note, self.fail
            fix.is_shared = "turns" in plan
            fix.is_on = not fix.is_shared
            fix.is_training = (plan.get("unit") or "").startswith("step:optimizer")
        self.schedule = schedule.Schedule([schedule.turn_of(t) for t in plan.get("turns", [])],
                                          plan.get("first", schedule.FIRST))
        self._broken: set[str] = set()
        self._on: tuple[str, ...] = ()
        self.units.on_switch = self._switch_all
        self.targets = modules.Targets(self.fixes, self._found, plan.get("main") or "")
        self.module_units = units.ModuleUnits(self.units)
        self.calls: modules.Calls | None = None
        self._listed: set[str] = set()
        self._unit_name = (plan.get("unit") or "").removeprefix("step:")
        self._first = True

    def begin(self) -> None:
        self.log.write("begin", executable=sys.executable)
        random_state.same_for_all()
        for fix in self.fixes:
            self._try(fix, fix.at_start)
        when_imported("torch", self._torch)
        self.units.on_unit = self._before_unit
        self.units.on_pipeline, self.units.on_model = self._pipeline, self._model
        self.units.install()
        if self.units.output:
            function_output.watch(self.units.output, self.units.keep)
        atexit.register(self._end)
        os.register_at_fork(after_in_child=self.units.forget)
        self._watch_errors()

    # ---- fixes ----

    def note(self, fix: Any, what: str, **more: Any) -> None:
        """What a fix has seen: where it applies, and what it could not do."""
        self.log.write("fix", fix=fix.spec, note=what, **more)

    def _try(self, fix: Any, action: Any, *args: Any) -> None:
        try:
            action(*args)
        except Exception as why:
            self.fail(fix, why)

    def fail(self, fix: Any, why: BaseException) -> None:
        """The trial is over: what it would measure is not the fix. Where others alternate, it is off
         from now on."""
        if fix.spec in self._broken:
            return
        known: dict[str, Any] = {"type": ""} if isinstance(why, Unfit) else {}
        if isinstance(why, Already):
            known.update(already=True, source=None)
        self.log.write("failed", fix=fix.spec, **{**places.of_error(why), **known})
        if fix.is_shared:
            self._broken.add(fix.spec)
            self._switch(tuple(spec for spec in self._on if spec != fix.spec))
            return
        if threading.current_thread() is threading.main_thread():
            for stream in (sys.stdout, sys.stderr):
                stream.flush()
            os._exit(FAILED)

    def _torch(self, torch: Any) -> None:
        for fix in self.fixes:
            self._try(fix, fix.on_torch, torch)
        if self._needs_calls():
            self.calls = modules.Calls(torch, self._called)

    def _needs_calls(self) -> bool:
        """Whether modules have to be searched for among those the program calls."""
        unit = self.plan.get("unit")
        return unit is None or unit.startswith("step:") and (
            bool(self.targets.waiting) or not unit.startswith(("step:optimizer", "step:DataLoader")))

    def _found(self, fix: Any, module: Any, written: str) -> None:
        self.log.write("target", fix=fix.spec, written=written, seen=fix.seen_of(module))
        self._try(fix, fix.on_module, module)

    def _before_unit(self, k: int) -> None:
        if self._first:
            self._first = False
            for fix in self.fixes:
                self._try(fix, fix.on_first_unit)
        if self.units.is_shared:
            self._take_turns(k)
        if k == units.MODULES_FOR:
            for fix in self.fixes:
                self._try(fix, fix.when_warm)
            self._stop_looking()

    def _take_turns(self, k: int) -> None:
        s, before = self.schedule, self.schedule.turn
        s.next_unit(k, lambda specs: not self._broken & set(specs))
        if s.turn != before:
            self.log.write("turn", turn=s.turn)
        self.units.is_switched = s.begins_block
        if s.begins_block:
            device.synchronize()
            self.units.flush(False)
        self._switch(s.on)
        self.units.mark = {"turn": s.turn, "at": s.at} if s.turn >= 0 else {}
        self.units.is_probe = s.is_probe and bool(s.on) and not self.units.output
        self.units.is_enough = s.is_over

    def _switch_all(self, on: bool) -> None:
        self._switch(self.schedule.on if on else ())

    def _switch(self, specs: tuple[str, ...]) -> None:
        """These are on, the others off."""
        before, self._on = self._on, specs
        for fix in self.fixes:
            fix.together = specs
            on = fix.spec in specs
            if on != (fix.spec in before):
                self._try(fix, fix.switch, on)

    # ---- modules ----

    def _list(self, named: dict[str, Any], via: str) -> None:
        new = {k: v for k, v in named.items() if k not in self._listed}
        if new:
            self._listed.update(new)
            self.log.write("modules", modules=modules.described(new, via),
                           owner=self._owner if via != "called" else "")

    def _pipeline(self, pipe: Any) -> None:
        self._owner = places.name_of(pipe)
        named = modules.of_pipeline(pipe)
        self.targets.offer(named, self._owner or "pipe")
        self._list(named, "pipeline")

    def _model(self, model: Any) -> None:
        self._owner = ""
        name = places.name_of(model)
        named = {type(model).__name__: model, modules.MAIN: model, **({name: model} if name else {})}
        self.targets.offer(named)
        self._list(named, "generate")

    def _called(self, module: Any) -> None:
        """The program calls an outermost module."""
        if self.units._inside or not any(True for _ in module.parameters()):
            return
        self.targets.offer_called(module)
        if self.plan.get("unit") is None:
            self._list({places.name_of(module) or type(module).__name__: module}, "called")
            self.module_units.called(module)
        elif self._unit_name == self.module_units.name(module):
            self.module_units.watch(module)
            self._unit_name = ""
        if self.plan.get("unit") and not self.targets.waiting and not self._unit_is_module():
            self._stop_looking()

    def _unit_is_module(self) -> bool:
        return bool(self._unit_name) and not self._unit_name.startswith(("optimizer", "DataLoader"))

    def _stop_looking(self) -> None:
        """Not in a first run whose unit may be the calls of a module."""
        if self.calls is not None and (self.plan.get("unit") or any(
                key.startswith(("call:", "step:optimizer")) and n >= units.MODULES_FOR
                for key, n in self.units.counts.items())):
            self.calls.stop()
            self.calls = None

    # ---- the end ----

    def _end(self) -> None:
        self.units.flush(True)
        for fix in self.targets.waiting:
            self.log.write("waiting", fix=fix.spec, module=fix.module)
        self.log.write("end", **device.described())

    def _watch_errors(self) -> None:
        plain = sys.excepthook

        def hook(kind: Any, why: Any, trace: Any) -> None:
            if why is not None and not isinstance(why, KeyboardInterrupt):
                self.log.write("error", **places.of_error(why.with_traceback(trace)))
            plain(kind, why, trace)

        sys.excepthook = hook


def begin(path: str) -> None:
    """Called by the injected sitecustomize; the plan is a JSON file."""
    with open(path, encoding="utf-8") as f:
        plan = json.load(f)
    Trial(plan).begin()
