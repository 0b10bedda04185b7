"""What is set in the process, in a recording and in the report of it."""
import gzip
import json
import subprocess
import sys

import pytest

from conftest import PROGRAM, clean_environment
from strata._base import process_settings
from strata._timeline import settings_side

torch = pytest.importorskip("torch")

TRAIN = """
    import torch
    torch.set_num_threads({threads})
    model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(4)])
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    for _ in range(6):
        with torch.autograd.{around}:
            optimizer.zero_grad()
            model(torch.ones(8, 32)).sum().backward()
            optimizer.step()
"""


def recorded(program, text, **env):
    done = program(text, command=(PROGRAM, "run", "--level", "timeline", "--", sys.executable),
                   **env)
    assert done.status == 0, done.stderr
    said = subprocess.run([PROGRAM, "report", "--json", done.folder()], capture_output=True, text=True,
                          check=True, env=clean_environment())
    return json.loads(said.stdout), dict(values(done))


def values(done):
    """What was read, in that order."""
    with gzip.open(done.folder() / "trace.json.gz") as trace:
        return [tuple(pair) for pair in json.load(trace).get("strata_settings", [])]


def subjects(report):
    return [f["subject"] for f in report["findings"] if f["rule"] == "settings"]


def test_a_setting_that_is_on_around_the_step_only_is_reported(program):
    report, known = recorded(program, TRAIN.format(threads=1, around="detect_anomaly()"),
                             TORCHDYNAMO_DISABLE="1", NCCL_P2P_DISABLE="1")
    assert subjects(report) == ["torch.autograd.set_detect_anomaly"]
    found = next(f for f in report["findings"] if f["rule"] == "settings")
    assert found["severity"] == "low" and found["predicted_gain_pct"] in (None, 0)
    assert known["threads"] == "1" and int(known["cpus"]) >= 1
    assert known["cudnn_benchmark"] == "off" and known["sdp_flash"] == "on"
    assert known["TORCHDYNAMO_DISABLE"] == known["NCCL_P2P_DISABLE"] == "1"


INFERENCE = """
    import torch
    model = torch.nn.Sequential(*[torch.nn.Linear(32, 32) for _ in range(4)])
    with torch.no_grad():
        for _ in range(6):
            torch.use_deterministic_algorithms(True)
            model(torch.ones(8, 32))
            torch.use_deterministic_algorithms(False)
"""


def test_a_setting_that_is_on_around_a_call_only_is_known(program):
    done = program(INFERENCE, command=(PROGRAM, "run", "--level", "timeline", "--", sys.executable))
    assert [value for name, value in values(done) if name == "deterministic"] == ["on", "off"]


def test_a_program_without_the_setting_is_quiet(program):
    report, known = recorded(program, TRAIN.format(threads=1, around="set_grad_enabled(True)"))
    assert subjects(report) == []
    assert known["anomaly_detection"] == "off" and "NCCL_P2P_DISABLE" not in known


def test_nothing_but_names_of_the_list_gets_out(monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "secret")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = process_settings.read()
    assert found["OMP_NUM_THREADS"] == "3" and "secret" not in found.values()
    places = {"cpus", "cpu_limit", "cpus_beside_gpu"}
    assert set(found) <= {*process_settings.FLAGS, *process_settings.VARIABLES, *places}
    assert all(isinstance(value, str) for value in found.values())


@pytest.mark.parametrize("flag,on", [
    ("anomaly_detection", lambda: torch.autograd.set_detect_anomaly(True)),
    ("deterministic", lambda: torch.use_deterministic_algorithms(True)),
    ("cudnn_benchmark", lambda: setattr(torch.backends.cudnn, "benchmark", True)),
])
def test_flags_are_read_as_they_are_now(flag, on):
    assert process_settings.read()[flag] == "off"
    try:
        on()
        assert process_settings.read()[flag] == "on"
    finally:
        torch.autograd.set_detect_anomaly(False)
        torch.use_deterministic_algorithms(False)
        torch.backends.cudnn.benchmark = False


def test_a_version_without_a_flag_has_the_others(monkeypatch):
    def missing(_):
        raise AttributeError("no such flag")

    monkeypatch.setitem(process_settings.FLAGS, "deterministic", missing)
    found = process_settings.read()
    assert "deterministic" not in found and "anomaly_detection" in found


@pytest.mark.parametrize("text,limit", [("max 100000\n", None), ("150000 100000\n", 1.5), ("broken", None)])
def test_the_limit_of_the_control_group(text, limit, monkeypatch, tmp_path):
    import builtins
    plain = builtins.open
    (tmp_path / "cpu.max").write_text(text)

    def opened(path, *args, **kwargs):
        return plain(tmp_path / "cpu.max" if str(path).endswith("cpu.max") else path, *args, **kwargs)

    monkeypatch.setattr(builtins, "open", opened)
    assert process_settings.cpu_limit() == limit


def test_settings_are_read_in_the_third_backward_pass(monkeypatch):
    told = []
    monkeypatch.setattr(settings_side, "tell", lambda: told.append(settings_side._passes))
    monkeypatch.setattr(settings_side, "_passes", 0)
    assert not any(settings_side.backward() for _ in range(5)) and told == [3]
