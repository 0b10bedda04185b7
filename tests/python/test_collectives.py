"""What collectives carry, as recorded by `strata run --level timeline`: from torch's flight recorder
(gloo) and from NCCL's profiler interface, here of an NCCL that is not there (tests/capture/nccl.c)."""
import collections
import json
import os
import re
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from conftest import BUILD, PROGRAM, clean_environment

FAKES = Path(BUILD) / "tests" / "capture"
LIBRARY = Path(BUILD) / "python" / "strata" / "libstrata_inject.so"


def strata(*words, timeout=120, **env):
    return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=timeout,
                          check=False, env=clean_environment(**env))


def notes_in(folder, category, tmp_path):
    path = tmp_path / "exported.json"
    done = strata("export", folder, "-o", path)
    assert done.returncode == 0, done.stderr
    return [e for e in json.loads(path.read_text())["traceEvents"] if e.get("cat") == category]


# ---- NCCL

@pytest.fixture
def nccl(tmp_path):
    """nccl(version): the program under `strata run`, and its folder."""

    def run(version, **env):
        libraries = tmp_path / "lib"
        libraries.mkdir(exist_ok=True)
        for name, file in {"libcuda.so.1": "libcuda.so.1", "libcupti.so.13": "libcupti.so.13.fake"}.items():
            (libraries / name).unlink(missing_ok=True)
            (libraries / name).symlink_to(FAKES / file)
        done = strata("run", "-o", tmp_path / "out", "--level", "timeline", "--", FAKES / "capture_nccl",
                      version, LD_LIBRARY_PATH=libraries, APP_CUPTI="libcupti.so.13", FAKE_CUPTI="", **env)
        folders = sorted(p.parent for p in (tmp_path / "out").glob("*/*/rings"))
        return done, folders[0] if folders else None

    return run


@pytest.mark.parametrize("version", [1, 2, 3, 4, 5, 6])
def test_nccl_describes_its_kernels(nccl, tmp_path, version):
    done, folder = nccl(version)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "strata wants 6, context yes\ndone\n"  # no answer but success, no word of ours
    notes = notes_in(folder, "collective_kernel", tmp_path)
    assert [n["name"] for n in notes] == ["nccl:AllReduce"] * 3 + ["nccl:AllGather", "nccl:Send", "nccl:Recv"]
    first = notes[1]["args"]
    assert first["Process Group Name"] == "0xabc" and first["Seq"] == 1
    assert (first["In msg nelems"], first["dtype"]) == (1000, "Float")
    assert (first["Algorithm"], first["Protocol"], first["Channels"]) == ("RING", "LL", 16)
    if version >= 4:  # they say who is in the communicator
        assert first["Process Group Description"] == "tp" and first["Group size"] == 4
        assert (notes[4]["args"]["Src Rank"], notes[4]["args"]["Dst Rank"]) == (1, 2)
        assert (notes[5]["args"]["Src Rank"], notes[5]["args"]["Dst Rank"]) == (0, 1)

    told = json.loads(strata("report", folder, "--whole", "--json").stdout)["communication"]
    kinds = {k["name"]: k for k in told["collectives"]}
    assert kinds["all_reduce"]["calls"] == 3 and kinds["all_reduce"]["bytes"] == 3 * 1000 * 4
    assert kinds["all_reduce"]["group"] == "0xabc"
    assert kinds["send_recv"]["bytes"] == 2 * 300 * 4  # one kernel for both
    if version >= 4:
        assert kinds["all_gather"]["bytes"] == 500 * 4 * 2  # of four ranks, two bytes each
        assert kinds["all_reduce"]["group_size"] == 4 and kinds["all_reduce"]["bus_gb_per_s"] > 0
    else:  # how many ranks there are is not known
        assert kinds["all_gather"]["bytes"] is None


def test_an_nccl_with_a_newer_interface_finds_the_older(nccl):
    """NCCL asks for the newest version that it knows, then for older ones."""
    done, _ = nccl(7)
    assert done.returncode == 0 and done.stdout == "no ncclProfiler_v7\n"


def test_another_plug_in_stays(nccl, tmp_path):
    """The program would load theirs, which is not there."""
    done, _ = nccl(4, NCCL_PROFILER_PLUGIN=tmp_path / "theirs.so")
    assert done.returncode == 9 and "theirs.so" in done.stderr


def test_without_a_folder_to_write_to_nccl_goes_on(tmp_path):
    """Loaded by NCCL alone, and nothing can be recorded: every answer is success, without a word."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
    (tmp_path / "file").write_text("")
    env = clean_environment(LD_LIBRARY_PATH=tmp_path / "lib", NCCL_PROFILER_PLUGIN=LIBRARY,
                            STRATA_RUN=tmp_path / "file" / "run")
    done = subprocess.run([FAKES / "capture_nccl", "5"], capture_output=True, text=True, timeout=60,
                          check=False, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "strata wants 6, context yes\ndone\n", "")


def test_nccl_is_not_recorded_before_somebody_asks(tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libcuda.so.1").symlink_to(FAKES / "libcuda.so.1")
    done = strata("run", "-o", tmp_path / "out", "--level", "standby", "--", FAKES / "capture_nccl", 5,
                  LD_LIBRARY_PATH=tmp_path / "lib")
    assert done.returncode == 0 and done.stdout == "strata wants 6, context yes\ndone\n"
    assert not list((tmp_path / "out").glob("*/*/rings/*.ring"))


# ---- torch: what it hands over to NCCL and others

HANDED_OVER = """
    import ctypes, struct, sys
    import torch
    from torch.autograd.profiler import record_function

    lib = ctypes.CDLL(torch.__path__[0] + "/lib/libtorch_cpu.so")
    creator = ("_ZN5torch19ParamCommsDebugInfoC1ESt5tupleIJNSt7__cxx1112basic_stringIcSt11char_traitsIcE"
               "SaIcEEES7_EEiOS7_llN3c1010ScalarTypeESt6vectorIlSaIlEESE_iiib")
    if not hasattr(lib, creator):
        print("another torch")
        sys.exit(0)
    keep = []

    def text(s):  # std::string, short
        data = ctypes.create_string_buffer(32)
        keep.append(data)
        data[16:16 + len(s)] = s.encode()
        struct.pack_into("<QQ", data, 0, ctypes.addressof(data) + 16, len(s))
        return data

    def info(name, description, rank, what, n_in, n_out, start, stride, world):
        # torch's own constructor lays out the object: group ranks are start, start + stride, ...
        pair = ctypes.create_string_buffer(64)
        for at, s in ((0, description), (32, name)):
            pair[at + 16:at + 16 + len(s)] = s.encode()
            struct.pack_into("<QQ", pair, at, ctypes.addressof(pair) + at + 16, len(s))
        made, none = ctypes.create_string_buffer(512), [ctypes.create_string_buffer(24) for _ in range(2)]
        keep.extend([pair, made, *none])
        getattr(lib, creator)(
            made, pair, ctypes.c_int(rank), text(what), ctypes.c_int64(n_in), ctypes.c_int64(n_out),
            ctypes.c_int8(6), none[0], none[1], ctypes.c_int(start), ctypes.c_int(stride),
            ctypes.c_int(world), ctypes.c_bool(True))
        return made

    c10 = ctypes.CDLL(torch.__path__[0] + "/lib/libc10.so")
    kind = ctypes.c_void_p.in_dll(c10, "_ZN3c1013DebugInfoKind16PARAM_COMMS_INFOE")
    push = c10._ZN3c1020ThreadLocalDebugInfo5_pushENS_13DebugInfoKindESt10shared_ptrINS_13DebugInfoBaseEE
    pop = c10._ZN3c1020ThreadLocalDebugInfo4_popENS_13DebugInfoKindE

    def collective(label, made):
        held = struct.pack("<QQ", ctypes.addressof(made), 0)  # a shared_ptr that owns nothing
        push(kind, ctypes.create_string_buffer(held))
        with record_function(label):
            with record_function("inside"):
                torch.ones(3).sum()
        pop(ctypes.create_string_buffer(16), kind)

    for seq in range(3):
        made = info("0", "default_pg", 1, "allreduce", 1000, 1000, 0, 2, 4)
        struct.pack_into("<q", made, 224, seq)  # as setSequenceInfo does
        collective("nccl:all_reduce", made)
    collective("nccl:send", info("7", "pp", 2, "send", 50, 50, 0, 1, 4))
    with record_function("not one: of them"):
        torch.ones(3).sum()
    print(torch.__version__)
"""


def test_torch_says_what_it_hands_over(tmp_path):
    """With an object that torch's own constructor made: if the class changes, this fails."""
    pytest.importorskip("torch")
    script = tmp_path / "handed.py"
    script.write_text(textwrap.dedent(HANDED_OVER))
    done = strata("run", "--level", "timeline", "--ops", "user", "-o", tmp_path / "out", "--",
                  sys.executable, script)
    assert done.returncode == 0, done.stderr
    if "another torch" in done.stdout:
        pytest.skip("this torch has another class")
    (folder,) = [p.parent for p in (tmp_path / "out").glob("*/*/rings")]
    rows = {e["name"]: e.get("args", {}) for e in notes_in(folder, "user_annotation", tmp_path)}
    args = rows["nccl:all_reduce"]
    assert args["Collective name"] == "allreduce" and args["Process Group Name"] == "0"
    assert args["Process Group Description"] == "default_pg" and args["Process Group Ranks"] == "[0, 2, 4, 6]"
    assert (args["In msg nelems"], args["Out msg nelems"], args["dtype"]) == (1000, 1000, "Float")
    assert args["Group size"] == 4
    if tuple(map(int, done.stdout.split(".")[:2])) >= (2, 13):
        assert args["Seq"] == 2
    assert rows["nccl:send"]["Dst Rank"] == 2 and "Src Rank" not in rows["nccl:send"]
    assert "Collective name" not in rows["inside"] and "Collective name" not in rows["not one: of them"]


# ---- gloo, as torch's flight recorder has it

# The pause: after a collective torch's own threads let go of its tensors, for which they need Python. One
# that comes too late for that ends the program by std::terminate, recorded or not (torch 2.13).
TRAIN = """
    import os, time
    import torch, torch.distributed as dist
    import torch.distributed._functional_collectives as functional

    def nap():
        time.sleep(0.04)

    dist.init_process_group("gloo")
    me = dist.get_rank()
    torch.set_num_threads(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(64, 64))
    for _ in range(12):
        loss = model(torch.randn(16, 64)).sum()
        if me == 1:
            nap()
        loss.backward()
    both, other = torch.ones(1000), dist.new_group([0, 1])
    for _ in range(3):
        dist.all_reduce(both, group=other)
    functional.wait_tensor(functional.all_reduce(both, "sum", dist.group.WORLD))
    dist.all_gather([torch.empty(1000), torch.empty(1000)], both)
    time.sleep(0.3)
    dist.destroy_process_group()
"""


def launch(script, *words):
    pytest.importorskip("torch")
    script.write_text(textwrap.dedent(TRAIN))
    return [os.path.join(os.path.dirname(sys.executable), "torchrun"), *map(str, words), str(script)]


def check_ranks(folder):
    """What `strata report --ranks` says of the program above."""
    told = json.loads(strata("report", "--ranks", folder, "--json").stdout)
    assert told["world_size"] == 2 and [r["rank"] for r in told["ranks"]] == [0, 1]
    assert told["missing_ranks"] == told["duplicate_ranks"] == [] and told["unmatched"] == 0
    assert {c["matched_by"] for c in told["collectives"]} == {"number"}
    assert all(c["members"] == 2 for c in told["collectives"])
    assert len({(c["group"], c["seq"]) for c in told["collectives"]}) == len(told["collectives"])
    kinds = collections.Counter((c["group"], c["name"], c["bytes"]) for c in told["collectives"])
    bucket = (64 * 64 + 64) * 4  # DDP's reducer, which is not Python
    assert kinds["default_pg", "all_reduce", bucket] == 12
    assert kinds["1", "all_reduce", 4000] == 3  # another group
    assert kinds["default_pg", "all_reduce", 4000] == 1  # the functional one
    assert kinds["default_pg", "all_gather", 8000] == 1
    reduced = [c for c in told["collectives"] if c["bytes"] == bucket]
    for c in reduced:  # of two ranks each link carries the message once
        assert c["bus_gb_per_s"] == pytest.approx(bucket / c["transfer_us"] / 1e3, rel=0.01, abs=1e-6)
    worst = told["stragglers"][0]
    assert (worst["rank"], worst["cause"]) == (1, "host") and worst["source"]["function"] == "nap"
    assert worst["source"]["line"] == 6
    shown = strata("report", "--ranks", folder).stdout
    matched = r"2 of 2 ranks, \d+ collectives matched by number(; \d+ of the start-up left out)?\n"
    assert re.search(matched, shown)
    assert re.search(r"all_reduce +default_pg +\d+ +16\.6 kB +[\d.]+ [mun]?s +[\d.]+", shown)


@pytest.mark.alone
def test_ranks_are_matched_by_group_and_number(tmp_path):
    done = strata("run", "--level", "timeline", "-o", tmp_path / "out", "--",
                  *launch(tmp_path / "train.py", "--nproc-per-node", 2), PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "out" / "train").iterdir()
    check_ranks(folder)
    # the same from the trace that it wrote, and by the notes alone
    notes = notes_in(folder, "collective", tmp_path)
    assert all({"Process Group Name", "Seq"} <= set(n["args"]) for n in notes)


SLURM = {"SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_NTASKS": "2"}


def a_free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for_all(nodes):
    """The first that fails is the one to look at: the others wait for it, minutes."""
    try:
        left, by = list(nodes), time.monotonic() + 200
        while left and time.monotonic() < by:
            left = [n for n in left if n.poll() is None]
            assert all(n.returncode in (None, 0) for n in nodes)
            time.sleep(0.1)
        assert not left, "still running"
    finally:
        for node in nodes:
            node.terminate()  # and strata run ends what it has started


@pytest.mark.parametrize("how", ["folder", pytest.param("parent", marks=pytest.mark.slow),
                                 pytest.param("slurm", marks=pytest.mark.slow)])
@pytest.mark.slow
@pytest.mark.alone
def test_nodes_write_to_one_folder(tmp_path, how):
    """Two nodes, each with its own launcher under its own `strata run`: told the run's folder, told
    where runs are kept, or steps of one Slurm job."""
    out, port = tmp_path / "out", a_free_port()
    running = []
    for node in range(2):
        words = launch(tmp_path / "train.py", "--nnodes", 2, "--node-rank", node, "--nproc-per-node", 1,
                       "--master-addr", "127.0.0.1", "--master-port", port)
        env = {"folder": {"STRATA_RUN": out / "job"}, "parent": {},
               "slurm": SLURM | {"SLURM_PROCID": str(node)}}[how]
        options = [] if how == "folder" else ["-o", out]
        running.append(subprocess.Popen([PROGRAM, "run", "--level", "timeline", *options, "--", *words],
                                        env=clean_environment(PATH=os.environ["PATH"], **env)))
    wait_for_all(running)
    if how == "parent":
        assert len(list((out / "train").iterdir())) == 2
    else:
        (folder,) = [p.parent for p in [*out.glob("*/rings"), *out.glob("*/*/rings")]]
        procs = [p.name for p in (folder / "rings").glob("*.proc")]
        assert len(procs) == len(set(procs)) and not list(folder.glob("*.tmp*"))
    check_ranks({"folder": out / "job", "parent": out, "slurm": out / "train"}[how])
