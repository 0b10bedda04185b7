#!/usr/bin/env python3
"""make.py --strata BINARY: the reports of well-known traces, whole, to be judged by eye.

Writes reports.txt (each report as the terminal shows it, 100 columns) and lines.csv (lines per report
of every trace at hand) beside this file. The script looks for traces that are not part of the project in
../shared/traces next to it and left out where missing; only our own report of them is kept."""
import argparse
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests/oracle"))
from traces import find_traces  # noqa: E402

DATA, SHARED = ROOT / "tests/data", ROOT.parent / "shared/traces"
JUDGED = (
    DATA / "advice/attention_math_stack.json.gz", DATA / "advice/elementwise_chain_stack.json.gz",
    DATA / "advice/gemm_fp32_stack.json.gz", DATA / "wan/wan_before_compile.json.gz",
    DATA / "flux2/flux2_before_compile.json.gz", DATA / "flux2/flux2_after_compile.json.gz",
    DATA / "whatif/pingpong_v0.json.gz", DATA / "offload/pageable_stream_all.json.gz",
    DATA / "torch/gpu_training.json.gz", DATA / "capture/h200_decode_graph_torch.json.gz",
    DATA / "capture/h200_flux2_rings.txz",
    SHARED / "public/kineto_resnet50_workers0.json.gz", SHARED / "public/xplane/jax_gemm_mi300.xplane.pb",
    SHARED / "advice/small_mlp_stack.json.gz", SHARED / "public/h100_bert_small.json.gz",
    SHARED / "public/dlrm8/rank1.json.gz", SHARED / "public/hta_many_graphs.json.gz")


def report(strata, path, folder):
    """The text of a report, by the name of the trace alone; None where there is none."""
    if path.suffix == ".txz":
        target = Path(folder, path.name.partition(".")[0])
        if not target.exists():
            with tarfile.open(path) as tar:
                tar.extractall(target, filter="data")
        path = target
    env = dict(os.environ, COLUMNS="100", NO_COLOR="1")
    done = subprocess.run([strata, "report", path.name], cwd=path.parent, env=env, check=False,
                          capture_output=True, text=True, errors="replace", timeout=600)
    return done.stdout if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--strata", required=True)
    strata = str(Path(parser.parse_args().strata).resolve())
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        found = [(p, report(strata, p, folder)) for p in JUDGED if p.exists()]
        (HERE / "reports.txt").write_text("\n\n".join(f"$ strata report {p.name}\n{t}" for p, t in found
                                                      if t))
        for path in find_traces([f for f in (DATA, SHARED) if f.is_dir()]):
            text = report(strata, path, folder)
            if text:
                lines.append((path.name, len(text.splitlines())))
    (HERE / "lines.csv").write_text("trace,lines\n" + "".join(f"{n},{k}\n" for n, k in lines))
    counts = [k for _, k in lines]
    print(f"{len(found)} reports; lines of {len(counts)} reports: median {statistics.median(counts)}, "
          f"most {max(counts)}")


if __name__ == "__main__":
    main()
