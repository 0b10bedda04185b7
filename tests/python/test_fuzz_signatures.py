"""Signature files that nobody wrote: parts of real ones dropped, doubled, exchanged, and put to
extremes. Reading one either gives a message or a file that can be listed, generated and written as a
script. STRATA_FUZZ_SECONDS runs it for longer, with another seed each time."""
import ast
import copy
import json
import os
import random
import time

import pytest

torch = pytest.importorskip("torch")

MUTANTS = 400
ODD = [0, -1, 1, 2**31, 2**63, -2**63, 10**30, 1e308, 0.5, True, None, "", "x", "\x1b[2J", "inf", "nan",
       "__import__('os').abort()", '"""', "float32", "cuda:0", "tensor", "dict", [], {}, [[]], [1, 2],
       {"kind": "value"}, {"kind": "object", "type": "a.b"}]
TENSOR = {"kind": "tensor", "shape": [2, 3], "stride": [3, 1], "dtype": "float32", "device": "cpu",
          "requires_grad": False}
INDEX = {"kind": "tensor", "shape": [4], "stride": [1], "dtype": "int64", "device": "cpu",
         "requires_grad": False, "range": [0, 7], "values": [0, 1, 5, 7]}
CALL = {"count": 3, "mode": {"grad": False, "inference": True, "autocast": {"cuda": "bfloat16"}},
        "inputs": {
            "x": TENSOR, "index": INDEX, "steps": {"kind": "value", "value": 4, "range": [1, 4]},
            "name": {"kind": "value", "value": "euler"}, "kind": {"kind": "dtype", "value": "bfloat16"},
            "pair": {"kind": "tuple", "items": [TENSOR, {"kind": "value", "value": None}]},
            "size": {"kind": "tuple", "type": "torch.Size", "items": [{"kind": "value", "value": 2}]},
            "more": {"kind": "dict", "items": [["a", TENSOR], ["b", {"kind": "list", "items": []}]]},
            "box": {"kind": "dataclass", "type": "bench_entry.Box", "fields": {"size": INDEX}},
            "where": {"kind": "device", "value": "cpu"},
            "seed": {"kind": "generator", "device": "cpu"}, "what": {"kind": "object", "type": "a.B"}},
        "state": {"type": "a.B", "attributes": {"step": {"kind": "value", "value": 1}}}, "output": TENSOR}
FILE = {"schema": 1, "stages": {"encode": {"signatures": [CALL]},
                                "encode/unet": {"signatures": [CALL, dict(CALL, count=1)]}}}


def places(value, found):
    """Every (container, key) of a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, v in inner:
        found.append((value, key))
        if isinstance(v, (dict, list)):
            places(v, found)
    return found


def change(document, dice):
    """One random change of the document, in place."""
    spots = places(document, [])
    if not spots:
        return
    (at, key), (other, its) = dice.choice(spots), dice.choice(spots)
    way = dice.randrange(5)
    if way == 0:
        at[key] = copy.deepcopy(dice.choice(ODD))
    elif way == 1:
        del at[key]
    elif way == 2:
        at[key] = copy.deepcopy(other[its])
    elif way == 3 and isinstance(at, dict):
        at[str(dice.choice(ODD))] = at.pop(key)
    elif isinstance(at, list):
        at.insert(key, copy.deepcopy(at[key]))


def use(path, capsys):
    """Everything that needs no entry: the list in both forms, inputs, and the script's lines."""
    from strata import mock
    from strata._pipeline.single_call import Maker
    from strata.bench import command, script
    from strata.bench.errors import BenchError
    from strata.bench.signatures import SignatureFile
    for words in ([path, "--list"], [path, "--list", "--json"]):
        assert command.main(words) in (0, 2, 3)
        said = capsys.readouterr()
        assert "Traceback" not in said.err and "\x1b" not in said.out + said.err
    try:
        found = SignatureFile(path)
        calls = [s for stage in found.stages for s in found.of_stage(stage)]
    except BenchError:
        return 0
    for call in calls:
        state = call.found.get("state", {}).get("attributes", {})
        for described in [*call.inputs.values(), *state.values()]:
            try:
                ast.parse(script.code(described))
            except ValueError:
                pass
            try:
                mock.build(described, Maker(device="meta"))
            except (ValueError, RuntimeError):  # torch's own refusals among them
                pass
    return 1


def test_whatever_a_signature_file_holds(tmp_path, capsys):
    seconds = float(os.environ.get("STRATA_FUZZ_SECONDS", "0"))
    dice = random.Random(time.time() if seconds else 1)
    path, began, n, usable = tmp_path / "signature.json", time.time(), 0, 0
    while n < MUTANTS or time.time() - began < seconds:
        document = copy.deepcopy(FILE)
        for _ in range(1 + dice.randrange(3)):
            change(document, dice)
        path.write_text(json.dumps(document))
        try:
            usable += use(str(path), capsys)
        except BaseException:
            print(json.dumps(document))
            raise
        n += 1
    assert n // 20 < usable < n  # neither all refused nor none
    if seconds:
        with capsys.disabled():
            print(f"{n} mutants, {usable} of them usable")


def test_refusals_name_the_place(tmp_path, capsys):
    from strata.bench import command
    path = tmp_path / "signature.json"
    for change_of, says in ((lambda c: c.pop("inputs"), "it has no 'inputs'"),
                            (lambda c: c["inputs"]["x"].update(shape=[-1]), "'x' is not a description"),
                            (lambda c: c["inputs"]["x"].update(kind="file"), "its kind is 'file'"),
                            (lambda c: c["inputs"]["x"].update(stride=[1]), "does not fit its 'shape'"),
                            (lambda c: c.update(count="many"), "its 'count' is not valid")):
        document = copy.deepcopy(FILE)
        change_of(document["stages"]["encode"]["signatures"][0])
        path.write_text(json.dumps(document))
        assert command.main([str(path), "--list"]) == 3
        said = capsys.readouterr()
        assert "stage 'encode'" in said.err and says in said.err
    path.write_text('{"schema": 1, "stages": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001)
    assert command.main([str(path), "--list"]) == 3
    assert "Traceback" not in capsys.readouterr().err
