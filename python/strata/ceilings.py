"""The rates this GPU reaches: bytes per second through its memory, operations per second by precision.

`python -m strata.ceilings` prints them as JSON, for `strata dive` to keep. Uses large matrices of random
numbers, since zeros are multiplied faster, and the best of a few rounds, since it measures a ceiling.
"""
from __future__ import annotations

import json
import sys

ROUNDS = 12
COPY_BYTES = 2 << 30
SIDE = 8192


def best_seconds(torch, work) -> float:
    """The shortest of ROUNDS calls, by the device's own clock."""
    for _ in range(3):
        work()
    times = []
    for _ in range(ROUNDS):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return min(times)


def fitting(torch, wanted: int) -> int:
    """`wanted` bytes, or what a quarter of the free memory allows."""
    free, _ = torch.cuda.mem_get_info()
    return min(wanted, free // 4)


def memory_gb_per_s(torch) -> float:
    size = fitting(torch, COPY_BYTES)
    source = torch.empty(size, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * size / best_seconds(torch, lambda: target.copy_(source)) / 1e9


def matmul_tflop_per_s(torch, dtype, side: int) -> float:
    a = torch.randn(side, side, device="cuda").to(dtype)
    b = torch.randn(side, side, device="cuda").to(dtype)
    return 2 * side**3 / best_seconds(torch, lambda: torch.mm(a, b)) / 1e12


def fp8_tflop_per_s(torch, side: int) -> float:
    a = torch.randn(side, side, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(side, side, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")

    def work():
        return torch._scaled_mm(a, b, one, one, out_dtype=torch.bfloat16)

    return 2 * side**3 / best_seconds(torch, work) / 1e12


def attention_tflop_per_s(torch) -> float:
    """Fused, forward, heads of 64, as most models have them."""
    q = torch.randn(4, 16, 4096, 64, device="cuda", dtype=torch.bfloat16)

    def work() -> None:
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
    return 4 * q.numel() * 4096 / best_seconds(torch, work) / 1e12


def measure() -> dict:
    import torch

    torch.manual_seed(0)
    half = SIDE // 2
    tf32 = torch.backends.cuda.matmul

    def fp32(allow: bool):
        tf32.allow_tf32 = allow
        return matmul_tflop_per_s(torch, torch.float32, SIDE if allow else half)

    rates = {
        "memory_gb_per_s": lambda: memory_gb_per_s(torch),
        "bf16_tflop_per_s": lambda: matmul_tflop_per_s(torch, torch.bfloat16, SIDE),
        "tf32_tflop_per_s": lambda: fp32(True),
        "fp32_tflop_per_s": lambda: fp32(False),
        "fp8_tflop_per_s": lambda: fp8_tflop_per_s(torch, SIDE),
        "attention_tflop_per_s": lambda: attention_tflop_per_s(torch),
    }
    found = {"gpu": torch.cuda.get_device_name()}
    for key, rate in rates.items():
        try:
            found[key] = round(rate(), 1)
        except (RuntimeError, AttributeError, NotImplementedError):
            continue  # this GPU or this torch has no such thing
        torch.cuda.empty_cache()
    return found


def main() -> int:
    try:
        print(json.dumps(measure()))
    except (ImportError, RuntimeError, AssertionError) as why:
        print(f"strata.ceilings: there is no GPU to measure: {why}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
