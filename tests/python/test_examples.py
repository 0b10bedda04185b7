"""The programs of examples/ run under `strata run` and leave the stages they mark."""
import json
import subprocess
from pathlib import Path

from conftest import BUILD, PROGRAM, clean_environment

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def record(tmp_path, *command):
    done = subprocess.run([PROGRAM, "run", "-o", tmp_path / "out", "--", *command], cwd=tmp_path,
                          capture_output=True, text=True, timeout=300, env=clean_environment())
    assert done.returncode == 0, done.stderr
    [run] = (tmp_path / "out").glob("*/*/")
    return done, run


def test_python_pipeline(tmp_path):
    done, run = record(tmp_path, "python3", EXAMPLES / "pipeline.py", "5")
    assert done.stdout == "12288 bytes of image\n"
    found = json.loads((run / "timing.json").read_text())["stages"]
    stages = {path: s["count"] for path, s in found.items()}
    assert stages == {"encode_prompt": 1, "denoise": 1, "denoise/transformer_forward": 5,
                      "denoise/scheduler_step": 5, "vae_decode": 1}


def test_c_engine(tmp_path):
    folder = Path(BUILD) / "src" / "record"
    subprocess.run(["cc", "-std=c11", "-Wall", "-Werror", "-I", EXAMPLES.parent / "include",
                    EXAMPLES / "engine.c", "-L", folder, f"-Wl,-rpath,{folder}", "-lstrata_record",
                    "-o", tmp_path / "engine"], check=True)
    done, run = record(tmp_path, tmp_path / "engine")
    assert "20 steps" in done.stdout
    table = subprocess.run([PROGRAM, "stages", run, "--json"], capture_output=True, text=True,
                           check=True)
    counts = {s["name"]: s["count"] for s in json.loads(table.stdout)["stages"]}
    assert (counts["load_weights"], counts["denoise"], counts["forward"]) == (1, 20, 20)
    table = subprocess.run([PROGRAM, "steps", run, "--json"], capture_output=True, text=True,
                           check=True)
    assert [s["number"] for s in json.loads(table.stdout)["steps"]] == list(range(20))
