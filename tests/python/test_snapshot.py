"""strata memory on snapshots of the allocator of PyTorch: figures against those of the allocator that made
them, and pickles that are not what they seem."""
import gzip
import json
import os
import pickle
import subprocess
from pathlib import Path

import pytest

import snapshots
from conftest import PROGRAM

DATA = Path(__file__).parent.parent / "data" / "memory"


def strata(*args):
    return subprocess.run([PROGRAM, *map(str, args)], capture_output=True, text=True)


def memory(path):
    done = strata("memory", path, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def held_by(moment):
    return {h["source"]["line"] if h["source"] else h["category"]: h["bytes"] for h in moment["holders"]}


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_figures_are_those_of_the_allocator(tmp_path, protocol):
    a = snapshots.training(keeps=3 << 20)
    found = memory(snapshots.write(tmp_path / "s.pickle", a.snapshot(), protocol))
    [device] = found["devices"]
    assert device["peak"]["held_bytes"] == a.peak
    assert device["now"]["held_bytes"] == a.live
    assert device["now"]["reserved_bytes"] == a.reserved
    assert device["space"]["active_bytes"] + device["space"]["free_bytes"] == a.reserved
    assert device["before_bytes"] == 0
    mb = 1 << 20
    # the peak is in the last step: seven kept, all layers forward, one gradient
    assert held_by(device["peak"]) == {57: 21 * mb, 33: 12 * mb, 53: 8 * mb, 20: 4 * mb, "unknown": mb}
    assert device["peak"]["categories"] == {"other": 21 * mb, "forward": 12 * mb, "optimizer": 8 * mb,
                                            "weights": 4 * mb, "unknown": mb}
    growth = device["growth"]
    assert growth["grows"] and growth["per_round_bytes"] == 3 * mb and growth["rounds"] == 8
    assert held_by({"holders": growth["holders"]}) == {57: 18 * mb}
    assert found["has_stacks"] and growth["holders"][0]["source"]["file"].endswith("train.py")


def test_a_healthy_loop_does_not_grow(tmp_path):
    found = memory(snapshots.write(tmp_path / "s.pickle", snapshots.training(steps=9).snapshot()))
    growth = found["devices"][0]["growth"]
    assert growth["judged"] and not growth["grows"] and growth["rounds"] == 9


def test_a_history_that_begins_late(tmp_path):
    """Of a ring of events the oldest are gone: what lived then is still counted."""
    a = snapshots.training(keeps=3 << 20, entries=60)
    [device] = memory(snapshots.write(tmp_path / "s.pickle", a.snapshot()))["devices"]
    assert device["events"] == 60
    assert device["peak"]["held_bytes"] == a.peak  # which lies in the last step
    assert device["before_bytes"] > 0


def test_out_of_memory(tmp_path):
    mb = 1 << 20
    a = snapshots.training(capacity=70 * mb)
    with pytest.raises(MemoryError):
        a.alloc("x", 64 * mb, "huge")
    [device] = memory(snapshots.write(tmp_path / "s.pickle", a.snapshot()))["devices"]
    [moment] = device["out_of_memory"]
    assert device["ooms"] == 1 and moment["asked_bytes"] == 64 * mb
    assert moment["device_free_bytes"] == 70 * mb - a.reserved
    assert moment["source"]["line"] == 70 and not moment["fragmented"]
    assert held_by(moment) == {53: 8 * mb, 20: 4 * mb}


def test_fragmentation(tmp_path):
    mb = 1 << 20
    a = snapshots.Allocator(capacity=100 * mb)
    for i in range(10):
        a.alloc(i, 9 * mb, "forward")
    for i in range(0, 10, 2):
        a.free(i)
    with pytest.raises(MemoryError):
        a.alloc("x", 30 * mb, "huge")
    path = snapshots.write(tmp_path / "s.pickle", a.snapshot())
    [device] = memory(path)["devices"]
    [moment] = device["out_of_memory"]
    assert moment["fragmented"] and moment["reserved_bytes"] - moment["held_bytes"] >= 30 * mb
    assert device["space"]["largest_free_bytes"] < 30 * mb
    assert len(device["space"]["partly_used"]) == 5
    assert "not in one piece" in strata("memory", path).stdout


def test_without_history_or_stacks(tmp_path):
    a = snapshots.training(record=False)
    whole = a.snapshot()
    for segment in whole["segments"]:
        for block in segment["blocks"]:
            del block["frames"]
    path = snapshots.write(tmp_path / "s.pickle", whole)
    [device] = memory(path)["devices"]
    assert device["peak"]["event"] is None and device["peak"]["held_bytes"] == a.live
    text = strata("memory", path).stdout
    assert "no history" in text and "without stacks" in text
    # torch.cuda.memory_snapshot() alone: the list of segments
    [device] = memory(snapshots.write(tmp_path / "l.pickle", a.snapshot()["segments"]))["devices"]
    assert device["now"]["held_bytes"] == a.live


def test_compressed_and_other_commands(tmp_path):
    path = snapshots.write(tmp_path / "s.pickle", snapshots.training().snapshot())
    packed = tmp_path / "s.pickle.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert memory(packed)["devices"] == memory(path)["devices"]
    assert "PyTorch memory snapshot" in strata("info", path).stdout
    assert json.loads(strata("info", packed, "--json").stdout)["format"] == "torch memory snapshot"
    for command in ("report", "gaps", "table"):
        done = strata(command, path)
        assert done.returncode == 3 and "strata memory" in done.stderr


class Calls:
    def __reduce__(self):
        return os.system, ("touch executed",)


def test_nothing_is_executed(tmp_path):
    whole = snapshots.training(steps=1).snapshot()
    whole["allocator_settings"] = Calls()
    path = snapshots.write(tmp_path / "s.pickle", whole)
    done = subprocess.run([PROGRAM, "memory", path], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 3 and "refused" in done.stderr and "byte" in done.stderr
    assert not (tmp_path / "executed").exists()


def test_a_small_file_that_repeats_its_parts(tmp_path):
    """Each list names the one before it a thousand times: walking it would never end."""
    block = {"address": 1, "size": 1, "state": "active_allocated"}
    blocks = [block] * 3000
    segment = {"device": 0, "address": 1, "total_size": 1, "segment_type": "large", "blocks": blocks}
    path = snapshots.write(tmp_path / "s.pickle", {"segments": [segment] * 3000, "device_traces": []})
    assert path.stat().st_size < 20000
    done = strata("memory", path)
    assert done.returncode == 3 and "repeats its parts" in done.stderr


def test_a_large_dict_that_is_referred_to_often(tmp_path):
    """Every look at it goes through all of its entries."""
    event = {i: None for i in range(20000)}
    event |= {"action": "alloc", "size": 1, "addr": 2, "stream": 0, "time_us": 1, "frames": []}
    path = snapshots.write(tmp_path / "s.pickle", {"segments": [], "device_traces": [[event] * 20000]})
    done = strata("memory", path)
    assert done.returncode == 3 and "repeats its parts" in done.stderr


def test_other_pickles(tmp_path):
    for value in ({"a": 1}, [1, 2], "segments", {"segments": 7, "device_traces": {"x": 1}}):
        path = tmp_path / "p.pickle"
        path.write_bytes(pickle.dumps(value))
        done = strata("memory", path)
        assert done.returncode in (0, 3), done.stderr


def test_sizes_are_those_asked_for(tmp_path):
    """The allocator rounds up; events say what was asked for."""
    a = snapshots.Allocator()
    for i in range(4):
        a.alloc(i, 1000, "forward")
    a.free(0)
    [device] = memory(snapshots.write(tmp_path / "s.pickle", a.snapshot()))["devices"]
    assert device["peak"]["held_bytes"] == 4000 and device["now"]["held_bytes"] == 3000
    assert device["space"]["active_bytes"] == 3 * 1024 and device["space"]["requested_bytes"] == 3000


@pytest.mark.parametrize("name", sorted(p.name for p in DATA.glob("h200_*.pickle.gz")))
def test_real_snapshots(name):
    """What torch counted itself stands beside each."""
    stats = json.loads((DATA / name.replace(".pickle.gz", ".txt")).read_text())
    [device] = memory(DATA / name)["devices"]
    space = device["space"]
    assert space["active_bytes"] + space["awaiting_free_bytes"] == stats["active_bytes.all.current"]
    assert space["reserved_bytes"] == stats["reserved_bytes.all.current"]
    assert device["peak"]["held_bytes"] == stats["requested_bytes.all.peak"]
    assert device["ooms"] == ("oom" in name)
    growth = device["growth"]
    if "growing" in name:
        [kept] = growth["holders"]
        assert growth["grows"] and growth["per_round_bytes"] == 2048 * 512 * 4 and growth["rounds"] == 8
        assert kept["source"]["line"] == 68 and kept["bytes"] == 6 * growth["per_round_bytes"]
    if "healthy" in name:
        assert growth["judged"] and not growth["grows"] and growth["rounds"] == 6
    if name == "h200_growing_all.pickle.gz":  # frames of C++ say what Python's cannot
        assert device["peak"]["categories"]["backward"] > 60e6
        assert "unknown" not in device["peak"]["categories"]
