"""strata.ceilings: what a GPU reaches, here on one that is only pretended."""
import json
import types

import pytest

from strata import ceilings


class Event:
    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        pass

    def synchronize(self):
        pass

    def elapsed_time(self, other):
        return 2.0  # ms


class Tensor:
    def to(self, dtype):
        return self

    def t(self):
        return self

    def copy_(self, other):
        return self


def fake_torch(lacks=()):
    """A torch whose every call takes 2 ms; names in `lacks` fail as on a GPU without them."""

    def make(*args, **kwargs):
        return Tensor()

    def multiply(kind):
        def work(*args, **kwargs):
            if kind in lacks:
                raise RuntimeError("not supported on this GPU")
            return Tensor()

        return work

    return types.SimpleNamespace(
        manual_seed=lambda n: None, uint8="u8", bfloat16="bf16", float32="f32", float8_e4m3fn="f8",
        empty=make, empty_like=make, randn=make, ones=make,
        mm=multiply("mm"), _scaled_mm=multiply("scaled_mm"),
        backends=types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace())),
        cuda=types.SimpleNamespace(Event=Event, mem_get_info=lambda: (4 << 30, 8 << 30),
                                   get_device_name=lambda: "Pretended GPU", empty_cache=lambda: None))


def test_rates(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "torch", fake_torch())
    assert ceilings.main() == 0
    found = json.loads(capsys.readouterr().out)
    assert found["gpu"] == "Pretended GPU"
    assert found["memory_gb_per_s"] == pytest.approx(2 * (1 << 30) / 2e-3 / 1e9, rel=1e-3)
    assert found["bf16_tflop_per_s"] == pytest.approx(2 * 8192**3 / 2e-3 / 1e12, rel=1e-3)
    assert found["fp32_tflop_per_s"] == pytest.approx(found["bf16_tflop_per_s"] / 8, rel=1e-3)


def test_what_a_gpu_lacks_is_left_out(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "torch", fake_torch(lacks=("scaled_mm",)))
    assert ceilings.main() == 0
    found = json.loads(capsys.readouterr().out)
    assert "fp8_tflop_per_s" not in found and "bf16_tflop_per_s" in found


def test_no_gpu(monkeypatch, capsys):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    assert ceilings.main() == 1
    out = capsys.readouterr()
    assert out.out == "" and "no GPU" in out.err
