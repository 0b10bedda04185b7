"""The files of a run and the table at its end."""
import json
import os
import re
import subprocess
import sys

import pytest

from conftest import PROGRAM, clean_environment

SCRIPT = """
    import strata, sys, time

    @strata.stage("denoise")
    def denoise(n):
        with strata.stage("step"):
            return n + 1

    for i in range(4):
        denoise(i)
"""


def test_files_of_a_run(program):
    done = program(SCRIPT)
    assert done.status == 0
    folder = done.folder()
    assert folder.parent.name == "script"
    assert re.fullmatch(r"\d{8}_\d{6}", folder.name)
    assert sorted(p.name for p in folder.iterdir()) == [
        "environment.json", "rings", "timing.json", "timing_io_signature.json"]
    assert not list(folder.parent.glob(".launch*"))
    report = done.json()
    assert report["schema"] == 1 and report["pipeline"] == "script" and report["rank"] == -1
    assert report["num_stages"] == 2 and report["lost_records"] == 0
    assert report["wall_clock_ms"] >= report["total_stages_ms"] > 0
    step = report["stages"]["denoise/step"]
    assert step["name"] == "step" and step["count"] == 4
    for key in ("duration_ms", "percentage", "self_ms", "mean_ms", "first_ms", "median_ms", "p95_ms",
                "min_ms", "max_ms", "std_ms"):
        assert step[key] >= 0, key
    assert step["min_ms"] <= step["median_ms"] <= step["p95_ms"] <= step["max_ms"]
    assert step["memory"]["rss_bytes"] > 0


def test_the_table(program):
    done = program(SCRIPT)
    lines = done.stderr.splitlines()
    assert re.match(r"strata: 2 stages, .* 0 records lost  -> out/script/\d{8}_\d{6}/$", lines[0])
    assert lines[1].split() == ["stage", "calls", "total", "median", "p95", "first", "peak", "mem"]
    assert re.match(r"  denoise +4 ", lines[2]) and re.match(r"    step +4 ", lines[3])
    assert lines[-1].startswith("next: strata stages out/script/")
    assert all(len(line) <= 100 for line in lines)
    assert done.stdout == ""


def test_runs_do_not_share_a_folder(program):
    for _ in range(3):
        done = program(SCRIPT)
    assert len(done.folders()) == 3


def test_nothing_happens_without_stages(program):
    done = program("import strata")
    assert (done.status, done.stdout, done.stderr) == (0, "", "")
    assert not done.out.exists()


def test_off_means_off(program):
    done = program("""
        import asyncio, strata

        def fn(x): return x
        assert strata.stage("a")(fn) is fn
        async def co(): pass
        assert strata.stage("a")(co) is co
        with strata.stage("b"):
            pass
        async def main():
            async with strata.stage("c"):
                pass
        asyncio.run(main())
        class Pipe: pass
        pipe = Pipe()
        with strata.annotate_pipeline(pipe):
            assert vars(pipe) == {}
        strata.watch(pipe, "x").undo()
        strata.step(); strata.instant("i"); strata.counter("c", 1)
        strata.memory.baseline(); strata.memory.snapshot("s")
        assert strata.report()["stages"] == {} and strata.run_dir() is None
        assert not strata.enabled
    """, STRATA="off")
    assert (done.status, done.stderr) == (0, "")
    assert not done.out.exists()


def test_a_folder_by_name(program, tmp_path):
    done = program(SCRIPT, STRATA_RUN=tmp_path / "here")
    assert (tmp_path / "here" / "timing.json").exists(), done.stderr
    again = program(SCRIPT, STRATA_RUN=tmp_path / "here")
    names = sorted(p.name for p in (tmp_path / "here").glob("timing*.json") if "sig" not in p.name)
    assert len(names) == 2 and names[0] == "timing.json", again.stderr  # nothing is overwritten


def test_the_pipeline_has_a_name(program):
    done = program(SCRIPT, STRATA_PIPELINE="../flux / dev")
    assert done.folder().parent.name == "_._flux___dev"
    assert done.json()["pipeline"] == "../flux / dev"


def test_modules_are_named_by_their_path(program, tmp_path):
    (tmp_path / "pack").mkdir()
    (tmp_path / "pack" / "__main__.py").write_text("import strata\nwith strata.stage('a'): pass\n")
    done = subprocess.run([sys.executable, "-m", "pack"], cwd=tmp_path, text=True,
                          capture_output=True, check=True, env=clean_environment())
    assert " -> strata_out/pack/" in done.stderr


def test_write_in_the_middle(program):
    done = program("""
        import json, os, strata
        with strata.stage("a"):
            pass
        folder = strata.write()
        first = json.load(open(os.path.join(folder, "timing.json")))
        assert list(first["stages"]) == ["a"]
        with strata.stage("b"):
            pass
        strata.set_metadata(steps=4, prompt="cat")
    """)
    assert done.status == 0, done.stderr
    report = done.json()
    assert list(report["stages"]) == ["a", "b"]
    assert report["metadata"] == {"steps": 4, "prompt": "cat"}
    assert len(list(done.folder().glob("timing*.json"))) == 1


def test_reset_starts_over(program):
    done = program("""
        import strata
        with strata.stage("warm-up"):
            pass
        with strata.stage("outer"):
            strata.reset("req_7", {"n": 1})
            with strata.stage("inner"):
                pass
    """)
    report = done.json()
    assert report["request_id"] == "req_7" and report["metadata"] == {"n": 1}
    assert set(report["stages"]) == {"outer", "outer/inner"}


def test_environment_has_no_secrets(program):
    secret = "hf_" + "abcdefgh" * 4
    done = program("""
        import strata
        with strata.stage("a"):
            pass
    """, "--hf-token", secret, "--api_key=0123456789abcdef0123456789abcdef", "--steps", "4",
        "https://user:hunter2@example.com/x", HF_TOKEN=secret, AWS_SECRET_ACCESS_KEY="wJalrXUtn",
        OMP_NUM_THREADS="3")
    text = (done.folder() / "environment.json").read_text()
    for word in (secret, "0123456789abcdef", "hunter2", "wJalrXUtn", "HF_TOKEN"):
        assert word not in text
    found = json.loads(text)
    assert found["command"][2:] == ["--hf-token", "(hidden)", "--api_key=(hidden)", "--steps", "4",
                                    "(hidden)"]
    assert found["variables"]["OMP_NUM_THREADS"] == "3"
    assert found["python"] and found["system"] and found["cpus"] > 0


def test_environment_knows_the_commit(program, tmp_path):
    def git(*args):
        return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *args],
                              cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    git("init", "-q", "-b", "work")
    git("commit", "-q", "--allow-empty", "-m", "x")
    done = program("import strata\nwith strata.stage('a'): pass\n")
    assert done.json("environment.json")["git"] == {
        "branch": "work", "commit": git("rev-parse", "HEAD")}


SECRETS = [
    (["--lr", "1e-4", "--size=1024x1024", "-n", "-5"], None),
    (["--model", "black-forest-labs/FLUX.1-dev", "--dtype", "bf16", "--device=cuda:0"], None),
    (["--mode", "reduce-overhead", "trainer.steps=4", "--num-key-value-heads", "8"], None),
    (["--max-tokens", "512", "--tokenizer", "t5", "-m", "pipe.main", "--fp8=float8_e4m3fn"], None),
    (["https://api.example.com/v1?access_token=abc"], ["(hidden)"]),
    (["https://s3.example.com/a?X-Amz-Signature=0f3c&X-Amz-Credential=AK"], ["(hidden)"]),
    (["--url=https://x.example.com/?sig=abc"], ["--url=(hidden)"]),
    (["-H", "Authorization: Bearer abcdef"], ["-H", "(hidden)"]),
    (["--body", '{"api_key": "abc"}'], ["--body", "(hidden)"]),
    (["--pw", "abc", "--pwd", "abc", "--pat", "abc"],
     ["--pw", "(hidden)", "--pwd", "(hidden)", "--pat", "(hidden)"]),
    (["--key=abc", "--wandb-key", "abc", "--ssh_key", "-abc"],
     ["--key=(hidden)", "--wandb-key", "(hidden)", "--ssh_key", "(hidden)"]),
    (["https://abcdefgh@example.com/repo.git"], ["(hidden)"]),
    (["postgres://me:abc@db/x", "me:ab@c"], ["(hidden)", "(hidden)"]),
    (["-pHunter2", "a prompt of several words"], ["-p(hidden)", "(hidden)"]),
    (["WANDB_API_KEY=abc", "access_token=abc"], ["WANDB_API_KEY=(hidden)", "access_token=(hidden)"]),
    (["550e8400-e29b-41d4-a716-446655440000", "aGVsbG8gd29ybGQhIQ=="], ["(hidden)", "(hidden)"]),
]


@pytest.mark.parametrize("words, kept", SECRETS, ids=lambda v: v[0] if v else "")
def test_commands_keep_what_is_harmless(words, kept):
    from strata._base import secrets
    assert secrets.clean_command(words) == (words if kept is None else kept)


def written_in(folder, text, **env):
    """environment.json of a program that is run in `folder` as ../script/a.py."""
    script = folder.parent / "script" / "a.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text("import strata\nwith strata.stage('a'): pass\n" + text)
    done = subprocess.run([sys.executable, os.path.join("..", "script", "a.py")], cwd=folder,
                          capture_output=True, text=True, timeout=60, check=False,
                          env=clean_environment(STRATA_OUT=folder / "out", **env))
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("out/*/*/environment.json")
    return json.loads(found.read_text())


def fake_git(folder, head="ref: refs/heads/main", commit="0" * 40):
    (folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text(head + "\n")
    (folder / ".git" / "refs" / "heads" / "main").write_text(commit + "\n")


def test_the_commit_is_that_of_the_script(tmp_path):
    """Not of where it is started, nor of where it goes to."""
    for name, commit in (("cwd", "1" * 40), ("script", "2" * 40)):
        fake_git(tmp_path / name, commit=commit)
    found = written_in(tmp_path / "cwd", "import os; os.chdir('/')\n")
    assert found["git"] == {"branch": "main", "commit": "2" * 40}


@pytest.mark.parametrize("head", ["ref: ../secret", "ref: refs/heads/../../../secret",
                                  "ref: refs/heads/link", "TOP SECRET", "ref: refs/heads/no commit"])
def test_a_repository_above_reads_no_other_file(tmp_path, head):
    here = tmp_path / "here"
    here.mkdir()
    (tmp_path / "secret").write_text("TOP SECRET")
    fake_git(tmp_path, head, "TOP SECRET")
    (tmp_path / ".git" / "refs" / "heads" / "link").symlink_to(tmp_path / "secret")
    found = written_in(here, "")
    assert found["git"] == {} and "TOP SECRET" not in json.dumps(found)


def test_a_repository_above_does_not_hold_the_program_up(tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    fake_git(tmp_path)
    (tmp_path / ".git" / "HEAD").unlink()
    os.mkfifo(tmp_path / ".git" / "HEAD")
    assert written_in(here, "")["git"] == {}


def test_files_are_for_their_user_alone(program):
    """What they hold names files, functions and arguments. A file that is replaced keeps its mode."""
    done = program("""
        import os, strata
        os.umask(0o022)
        @strata.stage("a")
        def a(x): return x
        a(1)
        folder = strata.write()
        os.chmod(os.path.join(folder, "timing.json"), 0o644)
    """)
    modes = {p.name: p.stat().st_mode & 0o777 for p in done.folder().iterdir()}
    assert done.folder().stat().st_mode & 0o777 == 0o700
    assert modes == {"timing.json": 0o644, "timing_io_signature.json": 0o600,
                     "environment.json": 0o600, "rings": 0o700}


def test_notes_of_others_do_not_hold_the_exit_up(program, tmp_path):
    (tmp_path / "out" / "script").mkdir(parents=True)
    os.mkfifo(tmp_path / "out" / "script" / ".launch-0123456789abcdef")
    done = program("import strata\nwith strata.stage('a'): pass\n", timeout=60)
    assert done.status == 0 and done.json()["stages"]["a"]["count"] == 1


def test_steps_instants_and_counters_are_in_the_trace(program):
    done = program("""
        import strata
        for i in range(3):
            strata.step()
            with strata.stage("work"):
                strata.instant("here")
                strata.counter("loss", 0.5 * i)
    """, STRATA_TABLE="off")
    shown = subprocess.run([PROGRAM, "steps", str(done.folder()), "--json"], check=True, text=True,
                           capture_output=True).stdout
    assert [s["index"] for s in json.loads(shown)["steps"]] == [0, 1, 2]


def test_the_trace_agrees_with_the_numbers(program, tmp_path):
    """What is added up while the program runs, and what `strata export --to timing` adds up from the
    rings."""
    done = program("""
        import asyncio, contextlib, threading, time, strata

        @strata.stage("recursive")
        def recursive(n):
            with strata.stage("leaf"):
                time.sleep(0.001)
            if n:
                recursive(n - 1)

        def thread():
            for i in range(20):
                with strata.stage("outer"):
                    with strata.stage("inner"):
                        pass

        threads = [threading.Thread(target=thread) for _ in range(3)]
        for t in threads: t.start()
        for t in threads: t.join()
        recursive(3)
        with contextlib.suppress(KeyError):
            with strata.stage("fails"):
                raise KeyError
    """, STRATA_TABLE="off")
    live = done.json()["stages"]
    (done.folder() / "timing.json").rename(tmp_path / "live.json")
    subprocess.run([PROGRAM, "export", str(done.folder()), "--to", "timing"], check=True, capture_output=True)
    later = done.json()["stages"]
    assert set(later) == set(live)
    for path, s in live.items():
        other = later[path]
        assert other["count"] == s["count"], path
        assert other.get("errors", 0) == s.get("errors", 0), path
        for key in ("duration_ms", "self_ms", "first_ms", "min_ms", "max_ms", "median_ms"):
            if s["count"]:
                assert abs(other[key] - s[key]) <= 0.002 + 0.001 * s[key], (path, key)


SLOW_FOLDERS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>
int mkdir(const char *path, mode_t mode)
{
    usleep(200000);
    return ((int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir"))(path, mode);
}
"""


def test_making_files_is_not_part_of_the_first_stage(program, tmp_path):
    """On a file system on which making a folder takes a while, and several are made."""
    source, library = tmp_path / "slow.c", tmp_path / "slow.so"
    source.write_text(SLOW_FOLDERS)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library, "-ldl"], check=True)
    done = program("""
        import time, strata
        began = time.perf_counter()
        with strata.stage("first"):
            pass
        whole = time.perf_counter() - began
        assert whole >= 0.4  # the folder of the run, and one in it
        assert strata.report()["stages"]["first"]["duration_ms"] / 1e3 <= whole - 0.4
        print("done")
    """, LD_PRELOAD=library)
    assert done.stdout == "done\n", done.stderr
