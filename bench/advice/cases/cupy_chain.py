"""CuPy: a formula on large arrays, one kernel per operator."""
import cupy
import says
from case import Case, Fix


def formula(x, y):
    a = cupy.exp(-x * x) * cupy.cos(y)
    return a * 0.5 + cupy.tanh(x - y) * (1 - a)


def build(at):
    x, y = (cupy.random.standard_normal(1 << 26, dtype=cupy.float32) for _ in range(2))
    fused = cupy.fuse(formula)
    return Case("gpu", lambda: formula(x, y), [Fix("fuse", lambda: fused(x, y), says.COMPILE)], n=5,
                wait=cupy.cuda.Device().synchronize, recorders=("strata",), seen_by=("strata",))
