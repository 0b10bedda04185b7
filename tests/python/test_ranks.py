"""`strata report --ranks` on traces that torch.profiler made of a real program: DDP over gloo, one rank
slowed
in its backward pass. Every rank shows the same time in its all-reduces and the same time per step."""
import json
import os
import subprocess
import sys
import textwrap

import pytest

from conftest import PROGRAM, clean_environment

TRAIN = """
    import sys, time
    import torch, torch.distributed as dist
    from torch.profiler import ProfilerActivity, profile, schedule

    class Hooked(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            slow_gradient()
            return grad

    def slow_gradient():
        time.sleep(0.12)

    dist.init_process_group("gloo")
    me = dist.get_rank()
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(4)]))
    with profile(activities=[ProfilerActivity.CPU], schedule=schedule(wait=1, warmup=1, active=5),
                 with_stack=True, on_trace_ready=lambda p: p.export_chrome_trace(
                     f"{sys.argv[1]}/rank{me}.json")) as p:
        for _ in range(7):
            y = model(torch.randn(16, 64))
            if me == int(sys.argv[2]):
                y = Hooked.apply(y)
            y.sum().backward()
            p.step()
    time.sleep(0.3)  # see test_collectives.py
    dist.destroy_process_group()
"""


@pytest.mark.slow
@pytest.mark.alone
def test_a_rank_slowed_in_its_backward_pass_is_named_with_its_line(tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(textwrap.dedent(TRAIN))
    (tmp_path / "traces").mkdir()
    launcher = os.path.join(os.path.dirname(sys.executable), "torchrun")
    subprocess.run([launcher, "--standalone", "--nproc-per-node", "4", tmp_path / "train.py",
                    tmp_path / "traces", "2"], check=True, capture_output=True,
                   env=clean_environment())
    done = subprocess.run([PROGRAM, "report", "--ranks", tmp_path / "traces", "--json"], check=True,
                          capture_output=True)
    data = json.loads(done.stdout)
    assert data["world_size"] == 4 and not data["missing_ranks"]
    assert len(data["collectives"]) >= 5 and data["unmatched"] == 0
    worst = data["stragglers"][0]
    assert (worst["rank"], worst["cause"]) == (2, "host")
    assert worst["source"]["file"].endswith("train.py")
    assert worst["source"]["function"] == "slow_gradient"
    assert data["step_without_straggler_us"] < data["step_us"] - 30000
    assert all(c["last_rank"] == 2 for c in data["collectives"][:4])
