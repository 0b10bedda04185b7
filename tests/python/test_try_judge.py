"""What strata try concludes, on times that are made up: nothing gains nothing, a planted gain is found,
whatever differs between processes; outputs are compared; findings become fixes; code is written."""
import array
import json
import math
import os
import random
import re

import pytest

from strata._try import (
    code,
    compare,
    fixes,
    history,
    judge,
    pauses,
    predictions,
    screen,
    switching,
    warmup,
)
from strata._try.driver import unit_of, words_of
from strata._try.inside import schedule
from strata._try.trial import Trial, failure_of, read
from strata.bench.screen import Screen


def process(rng, ms, n=8, spread=0.01, first=3.0):
    """Units of one process: some of the noise is the process's own."""
    own = math.exp(rng.gauss(0, spread))
    times = [ms * own * math.exp(rng.gauss(0, 0.01)) for _ in range(n)]
    times[0] *= first
    return times


def tried(seed, factor, spread=0.01, blocks=2):
    rng = random.Random(seed)
    before, after = [process(rng, 100, spread=spread)], []
    for _ in range(blocks):
        after += [process(rng, 100 * factor, spread=spread) for _ in range(2)]
        before.append(process(rng, 100, spread=spread))
    return judge.measure(before, after, 1.0)


@pytest.mark.parametrize("spread", [0.001, 0.01, 0.1])
def test_nothing_gains_nothing_twenty_times(spread):
    words = [tried(seed, 1.0, spread).verdict.word for seed in range(20)]
    assert words == ["no_difference"] * 20


def test_wrong_at_most_once_in_a_thousand():
    wrong = sum(tried(seed, 1.0, 0.03, blocks).verdict.word != "no_difference"
                for blocks in (1, 2, 3) for seed in range(1000))
    assert wrong <= 8  # 3 expected


def test_units_that_differ_say_little_about_processes():
    """A loader with workers has batches at once and waits for the next: what processes differ is known
    when there are some, and a gain of a third is seen."""
    rng = random.Random(1)

    def noisy(ms):
        own = math.exp(rng.gauss(0, 0.03))
        return [ms * own * math.exp(rng.gauss(0, 0.5)) for _ in range(200)]

    before, after = [noisy(10) for _ in range(5)], [noisy(6.5) for _ in range(8)]
    assert judge.measure(before, after, 1.0).verdict.word == "faster"
    assert judge.measure(before[:2], after[:2], 1.0).verdict.word == "no_difference"


@pytest.mark.parametrize("factor,word", [(0.5, "faster"), (0.8, "faster"), (1.3, "slower")])
def test_a_planted_change_is_found(factor, word):
    found = [tried(seed, factor) for seed in range(20)]
    assert [f.verdict.word for f in found].count(word) >= 19
    off = [abs(f.change_pct - 100 * (factor - 1)) for f in found]
    assert max(off) < 3
    inside = sum(f.low_pct <= 100 * (factor - 1) <= f.high_pct for f in found)
    assert inside >= 17  # 19 expected


def test_one_process_of_each():
    """Enough for what cannot be missed, not for less; of whole programs it says nothing."""
    before = [[300, 100, 101, 99, 100.5]]
    assert judge.measure(before, [[300, 20, 20.2, 19.8, 20.1]], 1.0).verdict.word == "faster"
    assert judge.measure(before, [[300, 85, 86, 84, 85]], 1.0).verdict.word == "no_difference"
    assert judge.measure([[100]], [[20]], 1.0).verdict.word == "unknown"
    assert judge.measure([], [[1.0]], 1.0) is None


def test_units_of_different_length_are_paired():
    """The k-th unit is compared with the k-th: a program whose calls grow is not noise."""
    before = [[10.0 * k * f for k in range(1, 9)] for f in (1.0, 1.001, 0.999)]
    after = [[5.0 * k * f for k in range(1, 9)] for f in (1.0, 1.001)]
    found = judge.measure(before, after, 1.0)
    assert found.verdict.word == "faster" and abs(found.change_pct + 50) < 0.5


def test_pauses_now_and_then_count():
    """Every tenth unit takes five times as long: without these pauses it takes 29 % less."""
    rng = random.Random(1)

    def units(pause):
        return [10 * (pause if k % 10 == 5 else 1) * math.exp(rng.gauss(0, 0.01)) for k in range(80)]

    found = judge.measure([units(5), units(5)], [units(1), units(1)], 1.0)
    assert found.verdict.word == "faster" and abs(found.change_pct + 28.6) < 1.5


def test_set_up_is_apart():
    times = [40_000.0, 900.0, 100.0, 101.0, 99.0, 100.0]
    assert warmup.warm_up(times) == 2
    assert warmup.set_up_s(times) == pytest.approx(40.7, abs=0.1)
    assert warmup.warm_up([5.0]) == 0 and warmup.warm_up([5.0, 5.0]) == 1


# ---- outputs ----


def kept(tmp_path, name, kind, values, digest="", shape=None):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "o.bin").write_bytes(array.array("d", values).tobytes())
    t = Trial(str(folder), [])
    t.outputs[0] = {"file": "o.bin", "items": [{
        "path": "images[0]", "kind": kind, "shape": shape or [len(values)], "digest": digest,
        "offset": 0, "count": len(values)}]}
    return t


def test_outputs(tmp_path):
    a = kept(tmp_path, "a", "float", [1.0, 2.0, 3.0], "x")
    assert compare.compare(a, kept(tmp_path, "b", "float", [1.0, 2.0, 3.0], "x"))["verdict"] == "same"
    near = compare.compare(a, kept(tmp_path, "c", "float", [1.0, 2.001, 3.0], "y"))
    assert near["verdict"] == "close" and near["largest"] == pytest.approx(0.001)
    assert compare.compare(a, kept(tmp_path, "d", "float", [1.0, 9.0, 3.0]))["verdict"] == "different"
    assert compare.compare(a, kept(tmp_path, "e", "float", [math.nan, 2, 3]))["verdict"] == "different"
    short = compare.compare(a, kept(tmp_path, "f", "float", [1.0]))
    assert short["verdict"] == "different" and "shape" in short["why"]
    ids = kept(tmp_path, "g", "int", [5, 6, 7, 8], "p")
    other = compare.compare(ids, kept(tmp_path, "h", "int", [5, 6, 9, 8], "q"))
    assert (other["verdict"], other["equal_pct"], other["first_difference"]) == ("different", 75, 2)
    image = kept(tmp_path, "i", "image", [100.0] * 64, "r")
    close = compare.compare(image, kept(tmp_path, "j", "image", [101.0] * 64, "s"))
    assert close["verdict"] == "close" and close["psnr_db"] == pytest.approx(48.1, abs=0.1)
    assert compare.compare(image, kept(tmp_path, "k", "image", [160.0] * 64, "t"))[
        "verdict"] == "different"
    assert compare.compare(a, Trial(str(tmp_path), []))["verdict"] == "unknown"
    huge = compare.compare(kept(tmp_path, "l", "float", [1e300, 1.0]),
                           kept(tmp_path, "m", "float", [-1e300, 1.0]))
    assert huge["verdict"] == "different" and huge["relative"] == pytest.approx(2)


def test_weights_that_only_rounding_moves(tmp_path):
    """They differ from run to run by as much as they are large, which is next to nothing."""
    def trained(name, tiny, large):
        t = kept(tmp_path, name, "float", [tiny] * 4, name)
        path = tmp_path / name / "o.bin"
        path.write_bytes(path.read_bytes() + array.array("d", [large] * 4).tobytes())
        items = t.outputs[0]["items"]
        items.append({**items[0], "path": "[1]", "offset": 32})
        return t

    a = trained("a", 1e-9, 0.02)
    assert compare.compare(a, trained("b", -8e-9, 0.02), True)["verdict"] == "close"
    assert compare.compare(a, trained("c", -8e-9, 0.02))["verdict"] == "different"
    assert compare.compare(a, trained("d", 1e-5, 0.02), True)["verdict"] == "different"
    assert compare.compare(a, trained("e", 1e-9, 0.03), True)["verdict"] == "different"


def test_a_program_that_varies_says_nothing_about_a_fix():
    off = {"verdict": "different", "relative": 0.3}
    assert compare.judged(off, {"verdict": "different", "relative": 0.25})["verdict"] == "unknown"
    assert compare.judged(off, {"verdict": "same", "relative": 0.0}) is off
    assert compare.judged(off, {"verdict": "close", "relative": 1e-6}) is off


# ---- the unit ----


def test_words_for_what_was_measured():
    def words(verdict, change, low, high):
        m = {"verdict": verdict, "change_pct": change, "low_pct": low, "high_pct": high}
        return screen.measured_words(m)

    assert words("faster", -53.1, -54, -52) == "-53.1 %"
    assert words("slower", 8, 5, 12) == "+8.0 %"
    assert words("no_difference", -0.4, -1.5, 0.8) == "no gain"
    assert words("no_difference", 3.0, -2, 9) == "no gain"
    assert words("no_difference", -26, -64, 52) == "-26.0 % ?"  # may be a large one
    assert words("no_difference", -2.0, -3, -1) == "-2.0 % ?"
    assert words("unknown", -31.6, None, None) == "-31.6 % ?"


def test_predictions_for_the_module_the_user_names():
    """The report says model; the program may call it net. A smaller one has no prediction."""
    found = predictions.Predictions(gains={"compile:model": 20.0}, rules={"compile:model": "launch_bound"})
    modules = [{"name": "net", "class": "Net", "via": "called", "parameters": 100},
               {"name": "small", "class": "Head", "via": "called", "parameters": 10}]
    assert found.of("compile:net") == (None, "")
    main = predictions.main_module(modules)
    found.main = {main["name"], main["class"]}
    assert found.of("compile:net")[0] == 20.0
    assert found.of("compile:small") == (None, "") and found.at_most("compile:small") is None
    assert predictions.main_module([]) is None
    named = [{**modules[0], "name": name, "parameters": n} for name, n in (("teacher", 9), ("model", 1))]
    assert predictions.main_module(named)["name"] == "model"


@pytest.mark.parametrize("part", ["compile:net:blocks", "compile:net.layers", "compile:Net.layers.0:default"])
def test_a_part_of_a_module_has_no_prediction(part):
    """The prediction for the whole is the most that it can gain: enough to say what is tried
    first."""
    found = predictions.Predictions(gains={"compile:model": 20.0}, rules={"compile:model": "launch_bound"},
                              main={"net", "Net"})
    assert found.of(part) == (None, "") and found.at_most(part) == 20.0


def test_which_unit():
    t = Trial("", [])
    assert unit_of(t) == "program"
    t.series = {"step:DataLoader": [10.0] * 50, "step:optimizer.step": [10.0] * 50, "step:Net": [10.0] * 50}
    assert unit_of(t) == "step:optimizer.step"
    t.series["call:generate"] = [5.0, 5.0]  # a sample now and then in a training
    assert unit_of(t) == "step:optimizer.step"
    t.series["call:FluxPipeline"] = [600.0]
    assert unit_of(t) == "call:FluxPipeline"
    assert words_of("call:generate") == "calls of generate"


def test_lines_of_a_killed_process(tmp_path):
    (tmp_path / "units-1.jsonl").write_text('{"what":"unit","unit":"call:f","k":0,"ms":5}\n{"what":"un')
    (tmp_path / "units-2.jsonl").write_text('[]\n{"what":"begin"}\n')
    t = Trial(str(tmp_path), [])
    read(t)
    assert t.series == {"call:f": [5.0]}


def test_why_a_trial_does_not_count():
    assert failure_of(Trial("f", [], status=3), 3) is None
    assert "exit status 1" in failure_of(Trial("f", [], status=1), 3)["reason"]
    assert "signal 9" in failure_of(Trial("f", [], status=-9), 0)["reason"]
    broken = Trial("f", [], status=97, failure={"type": "TypeError", "message": "no", "source": {"line": 3}})
    assert failure_of(broken, 0) == {"reason": "TypeError: no", "source": {"line": 3}}


# ---- fixes ----


def test_fixes_as_people_write_them():
    assert fixes.parse("compile:unet:reduce-overhead:blocks").blocks
    for wrong, said in (("compile", "name of a module"), ("compile:unet:quick", "unknown mode 'quick'"),
                        ("atention:flash", "Did you mean 'attention'"), ("tf32:1", "takes no argument"),
                        ("gc", "freeze"), ("loader:0", "1 to 256"), ("loader:many", "number"),
                        ("zzz", "--list")):
        with pytest.raises(fixes.FixError, match=said):
            fixes.parse(wrong)
    names = [c.name for c in fixes.ALL]
    assert len(set(names)) == len(names)
    assert all(c.changes and c.safe and c.results for c in fixes.ALL)


def finding(rule, gain=10.0, options=(), **more):
    return {"rule": rule, "predicted_gain_alone_pct": gain, "title": "", "subject": "", **more,
            "options": [{"name": n, "predicted_gain_pct": g} for n, g in options]}


def test_settings_of_the_allocator_are_kept(monkeypatch):
    for name in ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"):
        monkeypatch.delenv(name, raising=False)
    both = fixes.parse("alloc:expandable").environment
    assert set(both().values()) == {"expandable_segments:True"} and len(both()) == 2
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "max_split_size_mb:64,expandable_segments:False")
    assert set(both().values()) == {"max_split_size_mb:64,expandable_segments:True"}


def test_findings_become_fixes():
    ladder = [{"name": "as it is", "finding": None}, {"name": "TF32", "finding": 2}]
    report = {"wall_us": 1000, "ladder": ladder, "findings": [
        finding("launch_bound", 70, [("cuda_graph", 71), ("compile", 50)], subject="unet_forward"),
        finding("float32_products", 40, [("tf32", 40), ("bf16", 55)], subject="vae_decode"),
        finding("gc_pause", 5, title="gc.collect() inside the loop"), finding("unfused_optimizer", 8),
        finding("unfused_attention", 20), finding("data_loader", 30), finding("conv_layout", 3),
        finding("pageable_copy", 2), finding("allocation_in_loop", 4), finding("memory_growth", 0),
        finding("sync_in_loop", 6, fix="Remove torch.cuda.synchronize()."),
        finding("sync_in_loop", 9, fix="Keep the value on the GPU.")]}
    found = predictions.of_report(report)
    gains = {k: v for k, v in found.gains.items() if not k.startswith("loader:")}
    assert gains == {
        "graph:unet": 71, "static_cache": 71, "compile:unet:reduce-overhead": 71, "bf16:vae": 55,
        "compile:unet": 50, "tf32": 40,
        "attention:flash": 20, "fused_optimizer": 8, "no_explicit_sync": 6, "gc:off": 5,
        "no_empty_cache": 4, "alloc:expandable": 4, "channels_last:model": 3, "pinned_uploads": 2}
    assert [rung["rule"] for rung in found.ladder] == [None, "float32_products"]
    assert list(found.gains)[0] in ("graph:unet", "compile:unet:reduce-overhead")
    assert found.of("compile:unet:default") == (50, "launch_bound")
    assert found.of("compile:unet:max-autotune") == (None, "")
    assert found.of("attention:cudnn")[0] == 20 and found.of("channels_last:unet")[0] == 3
    modules = [{"name": "transformer", "class": "Flux"}]
    assert "compile:model" in predictions.suitable(found, modules, False)
    assert not any(s.startswith("graph") for s in predictions.suitable(found, modules, True))
    assert "static_cache" not in predictions.suitable(found, modules, False)


def test_a_report_that_will_not_judge_predicts_nothing():
    """And it is said why, rather than that there is nothing to fix."""
    problems = [{"level": "good", "what": "a copy"}, {"level": "doubtful", "what": "records are missing"}]
    report = {"abstains": True, "findings": [], "trace_quality": {"problems": problems}}
    assert predictions.of_report(report).trouble == "the recording cannot be trusted: records are missing"
    assert predictions.of_report({"abstains": True}).trouble == "the recording cannot be trusted"
    assert predictions.of_report({"abstains": False, "trace_quality": {"problems": problems}}).trouble == ""


def test_which_fixes_suit_the_modules():
    """Blocks that repeat are compiled before the whole; what generates gets a cache that a graph can hold."""
    report = {"findings": [finding("launch_bound", 70, [("cuda_graph", 71), ("compile", 50)])]}

    def suitable(**module):
        found = predictions.of_report(report)
        called = {"name": "model", "class": "Net", "via": "called", **module}
        return predictions.suitable(found, [called], False)

    assert suitable(blocks=0) == ["compile:model:reduce-overhead", "graph:model", "compile:model"]
    assert suitable(blocks=9) == ["compile:model:reduce-overhead", "graph:model", "compile:model:blocks",
                                  "compile:model"]
    assert suitable(via="generate") == ["static_cache", "compile:model"]


def test_a_module_with_two_names_is_tried_once_under_the_programs():
    """Of a pipeline `model` is another name of the part that does most of the work."""
    report = {"findings": [finding("unfused_chain", 30),
                           finding("launch_bound", 50, [("compile", 40)], subject="transformer_forward")]}
    found = predictions.of_report(report)
    part = {"class": "Flux", "via": "pipeline", "parameters": 9, "blocks": 4}
    modules = [{"name": "transformer", **part}, {"name": "model", **part}]
    specs = predictions.suitable(found, modules, False)
    assert "compile:transformer:blocks" in specs
    assert not any(":model" in spec for spec in specs)
    assert found.of("compile:transformer")[0] == 40


def test_what_cannot_apply_is_not_offered():
    found = predictions.of_report({"findings": [finding("conv_layout", 3)]})
    module = {"name": "net", "class": "Net", "via": "called", "parameters": 1}
    assert predictions.suitable(found, [{**module, "convolutions": 0}], False) == []
    assert predictions.suitable(found, [{**module, "convolutions": 2}], False) == ["channels_last:net"]


# ---- code ----

SOURCE = '''import torch
import gc


def main():
    net = make()
    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)
    for x in data:
        y = net(x)
        torch.cuda.empty_cache()
'''


@pytest.mark.parametrize("spec,line,call,removed,added", [
    ("fused_optimizer", 7, "AdamW", "-    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, foreach=False)",
     "+    opt = torch.optim.AdamW(net.parameters(), lr=1e-3, fused=True)"),
    ("tf32", 9, "", "", '+torch.set_float32_matmul_precision("high")'),
    ("no_empty_cache", 10, "", "-        torch.cuda.empty_cache()", ""),
    ("compile:net", 9, "", "", "+    net.compile()"),
])
def test_patches(tmp_path, monkeypatch, spec, line, call, removed, added):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.py").write_text(SOURCE)
    site = {"file": str(tmp_path / "p.py"), "line": line, "function": "main", "call": call}
    t = Trial("", [spec])
    key = "call:f" if spec.startswith(("compile", "tf32")) else spec
    t.sites[key] = site
    t.targets = {spec: "net"}
    found = code.advice(spec, t, "call:f")
    lines = found[0]["patch"].splitlines()
    assert lines[0] == "--- a/p.py" and "p.py" in found[0]["source"]["file"]
    for wanted in (removed, added):
        assert not wanted or wanted in lines


def test_no_patch_where_it_is_more_than_a_line(tmp_path):
    (tmp_path / "p.py").write_text("import torch\nopt = torch.optim.SGD(\n    params,\n    lr=1)\n")
    t = Trial("", [])
    t.sites["fused_optimizer"] = {"file": str(tmp_path / "p.py"), "line": 2, "function": "m", "call": "SGD"}
    found = code.advice("fused_optimizer", t, "program")
    assert found[0]["patch"] is None and found[0]["lines"] == ["SGD(..., fused=True)"]
    t.sites["fused_optimizer"]["file"] = str(tmp_path / "gone.py")
    assert code.advice("fused_optimizer", t, "program")[0]["patch"] is None


def test_what_transformers_makes_is_set_by_its_arguments():
    t = Trial("", [])
    for spec, wanted in (("loader:2", "TrainingArguments(..., dataloader_num_workers=2, "),
                         ("fused_optimizer", 'TrainingArguments(..., optim="adamw_torch_fused")'),
                         ("attention:flash", 'from_pretrained(..., attn_implementation="sdpa")')):
        by = "transformers" if spec == "attention:flash" else "transformers.trainer"
        t.sites[spec] = {"file": "p.py", "line": 1, "function": "m", "call": "DataLoader", "by": by}
        assert code.advice(spec, t, "program")[0]["lines"][0].startswith(wanted)


# ---- history ----


def test_history(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert history.read() == []
    measured = {"change_pct": -47.0, "low_pct": None, "high_pct": -40.0, "verdict": "faster"}
    row = {"fix": "tf32", "rule": "float32_products", "predicted_pct": 50.0, "measured": measured,
           "outputs": {"verdict": "close"}}
    result = {"program": "p.py", "machine": {"device_name": "H200", "torch": "2.11"}, "fixes": [
        row, {**row, "predicted_pct": None}, {**row, "measured": None}]}
    assert history.add(result) == 1 and history.add(result) == 1
    rows = history.read()
    assert len(rows) == 2 and rows[0]["predicted_pct"] == -50.0 and rows[0]["device"] == "H200"
    with open(history.path(), "a") as f:
        f.write("cut,short\n")
    assert len(history.read()) == 2
    unclear = {"change_pct": 1.9, "low_pct": -11.3, "high_pct": 16.9, "verdict": "no_difference"}
    assert history.add({**result, "fixes": [{**row, "measured": unclear}]}) == 1
    rows = history.read()
    assert [r["settled"] for r in rows] == [True, True, False]
    shown = Screen(False)
    screen.history(shown, rows, history.summary(rows), "x.csv")
    assert "+1.9 % ?" in shown.text() and "left out of the figures" in shown.text()
    assert history.summary(rows) == [{"fix": "tf32", "trials": 2, "median_error_points": 3.0,
                                      "median_distance_points": 3.0, "worst_distance_points": 3.0}]


def test_a_cache_that_cannot_be_written_is_left_alone(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)
    assert history.add({"program": "p", "machine": {}, "fixes": []}) == 0
    json.dumps(history.read())


def shown_fix(name, verdict="faster", low=-12.0, high=-8.0, failure=None):
    measured = {"change_pct": -10.0, "low_pct": low, "high_pct": high, "verdict": verdict}
    measured = None if failure else measured
    return {"fix": name, "specs": [name], "predicted_pct": None, "measured": measured, "failure": failure,
            "outputs": {"verdict": "same"}, "set_up": {"seconds": None, "again_s": None, "pays_after": None},
            "before_ms": 10.0, "median_ms": 9.0, "switched": [f"turns/{name}"], "trials": []}


def shown_result(fixes, best):
    return {"program": "p.py", "unit": {"words": "steps", "median_ms": 10.0}, "machine": {}, "code": [],
            "interrupted": False, "fixes": fixes, "combinations": [], "best": best, "predictions_from": None,
            "notes": [], "not_tried": [], "processes": 2, "folder": "f", "recordings": {},
            "baseline": {"trials": []}}


def test_what_comes_next_is_about_the_best_fix():
    s = Screen(False)
    screen.result(s, shown_result([shown_fix("first"), shown_fix("second")], ["second"]))
    assert "next: strata diff f/turns/second/without f/turns/second/with" in s.text()
    recorded = shown_result([shown_fix("first"), shown_fix("second")], ["second"])
    recorded["recordings"] = {"the unchanged program": "r0", "first": "r1", "second": "r2"}
    s = Screen(False)
    screen.result(s, recorded)
    assert "next: strata diff r0 r2" in s.text()


def test_a_fix_that_changes_nothing_is_no_failure():
    already = shown_fix("fused_optimizer", failure={"reason": "made so already", "source": None,
                                                    "already": True})
    s = Screen(False)
    screen.result(s, shown_result([already], []))
    assert re.search(r"fused_optimizer +- +already so\n", s.text()) and "failed" not in s.text()
    assert "nothing to try: the program does all of this already" in s.text()


def test_json_says_what_the_text_says():
    """What the text calls open is not "no_difference" in try.json."""
    from strata._try import result
    from strata._try.kinds import Kind

    class Measured:
        def __init__(self, low, high):
            self.low, self.high = low, high

        def as_dict(self):
            return {"change_pct": 15.3, "low_pct": self.low, "high_pct": self.high,
                    "verdict": "no_difference"}

    words = []
    for low, high in ((-66.0, 121.0), (-0.3, 0.4)):
        kind = Kind(["fused_optimizer"])
        kind.measured = Measured(low, high)
        words.append(result._measured(kind)["verdict"])
    assert words == ["not_settled", "no_difference"]
    assert judge.is_open("not_settled", -0.1, 0.1) and screen.measured_words(
        {"verdict": "not_settled", "change_pct": 15.3, "low_pct": -66, "high_pct": 121}) == "+15.3 % ?"


# ---- switched in one process ----


def switched(seed, factor, pairs=18, n=None):
    """A process that drifts, with a fix that is on and off; what is on reaches into the next unit."""
    rng = random.Random(seed)
    taken, before = switching.Taken(switching.Turn(("nothing",), 4, 4, pairs, seed)), 1.0
    for k in range(taken.turn.units if n is None else n):
        now = factor if taken.turn.is_on(k) else 1.0
        taken.times[k] = 10 * (1 + k / 300) * (now + before) / 2 * math.exp(rng.gauss(0, 0.02))
        before = now
    return taken


def test_switching():
    turn = switching.Turn(("nothing",), 4, 4, 100, 7)
    on = [turn.is_on(k) for k in range(turn.units)]
    assert all(on[:4]) and sum(on[4:]) == len(on[4:]) / 2
    words = [switching.measure([switched(seed, 1.0)], 1.0).verdict.word for seed in range(20)]
    assert words == ["no_difference"] * 20
    found = [switching.measure([switched(seed, 0.7)], 1.0) for seed in range(20)]
    assert [f.verdict.word for f in found].count("faster") >= 19
    assert all(abs(f.change_pct + 30) < 2 for f in found)
    least = switched(1, 0.7, switching.LEAST_PAIRS)
    assert switching.measure([least], 1.0) is not None
    assert switching.measure([switched(1, 0.7, n=least.turn.units - 1)], 1.0) is None


def test_what_settles_slowly_is_left_out():
    """Workers of a loader begin a block with nothing to deliver, and what comes first was made before."""
    turn = switching.planned(("loader:8",), "step:optimizer.step", 50.0, 0, settles=8)
    taken = switching.Taken(turn)
    for k in range(turn.units):
        since = (k - turn.warm) % turn.block
        taken.times[k] = (400.0 if since == 0 else 5.0) if since < 8 else 25.0 if turn.is_on(k) else 50.0
    assert switching.measure([taken], 1.0).change_pct == pytest.approx(-50)


def test_long_calls_count_one_by_one():
    """Four pairs show a large gain; of nothing they show nothing, with outliers or without."""
    def taken(seed, factor, pairs=4):
        rng, found = random.Random(seed), switching.Taken(switching.Turn(("x",), 2, 1, pairs, seed))
        for k in range(found.turn.units):
            noise = rng.gauss(0, 0.02) + (abs(rng.gauss(0, 0.2)) if rng.random() < 0.1 else 0.0)
            found.times[k] = 900 * (factor if found.turn.is_on(k) else 1.0) * math.exp(noise)
        return found

    assert len(taken(1, 0.5).pairs()[0]) == 4
    assert sum(taken(1, 0.5).turn.is_on(k) for k in range(2, 10)) == 4
    found = [switching.measure([taken(seed, 0.3)], 1.0) for seed in range(200)]
    assert sum(f.verdict.word == "faster" for f in found) > 150
    wrong = sum(switching.measure([taken(seed, 1.0)], 1.0).verdict.word != "no_difference"
                for seed in range(3000))
    assert wrong <= 8  # 3 expected


def test_switching_is_wrong_at_most_once_in_a_thousand():
    wrong = sum(switching.measure([switched(seed, 1.0, pairs)], 1.0).verdict.word != "no_difference"
                for pairs in (8, 16, 30) for seed in range(1000))
    assert wrong <= 8  # 3 expected


def test_a_turn_has_its_own_set_up():
    taken = switched(3, 0.5)
    taken.times[0] += 2000
    taken.times[3] += 9000  # the comparison of results
    assert 1.99 < taken.set_up_s() < 2.1
    assert taken.usual_ms(True) < 0.6 * taken.usual_ms(False)


def test_a_pause_is_no_set_up():
    """Unless it is clearly more than those that the program has anyway."""
    taken = switched(3, 0.5)
    taken.times[1] += 300
    assert taken.set_up_s() > 0.29
    for k in range(44, 52):  # with the fix, and without it
        taken.times[k] += 200
    assert taken.set_up_s() == 0
    taken.times[1] += 4000
    assert taken.set_up_s() > 4
    other = switched(3, 0.5)
    other.times[1] += 300
    first = [10.0] * 120
    assert other.set_up_s(first) > 0.29
    first[7] = 290.0  # the first use of something, by the program itself
    assert other.set_up_s(first) == 0


def test_set_up_of_processes():
    plain = [[50.0, 10.0, 11.0, 10.0, 400.0, 10.0, 10.0, 10.0], [60.0, 10.0, 10.0, 9.0, 10.0, 10.0]]
    assert warmup.of_process([300.0, 12.0, 5.0, 5.0, 5.0, 5.0], plain) == 0
    assert warmup.of_process([9000.0, 12.0, 5.0, 5.0, 5.0, 5.0], plain) == pytest.approx(8.95, abs=0.1)
    assert warmup.of_process([40.0, 10.0, 10.0, 10.0], plain) == 0


# ---- pauses now and then ----


def with_pauses(seed, between, pause_ms, pairs=8, block=0, again=True):
    """The program pauses every so many units while the fix is off; with `again` the collector begins
    anew with each block."""
    rng = random.Random(seed)
    block = block or pauses.block(between, 16, 1000)
    taken = switching.Taken(switching.Turn(("gc:freeze",), 4, block, pairs, seed))
    for k in range(taken.turn.units):
        at = (k - taken.turn.warm) % block if again else k
        pause = pause_ms if not taken.turn.is_on(k) and at % between == between - 1 else 0.0
        taken.times[k] = 10 * math.exp(rng.gauss(0, 0.03)) + pause
    return taken


@pytest.mark.parametrize("between,again", [(30, True), (30, False), (60, True), (60, False), (100, True)])
def test_pauses_are_measured(between, again):
    """A quarter of the time is pauses."""
    pause_ms = 10 * between / 3
    found = [switching.measure([with_pauses(seed, between, pause_ms, again=again)], 1.0, 5e-4, True)
             for seed in range(10)]
    assert [f.verdict.word for f in found] == ["faster"] * 10
    assert abs(sum(f.change_pct for f in found) / 10 + 25) < 3


def test_ranks_do_not_see_pauses_that_most_blocks_do_not_have():
    taken = [with_pauses(1, 100, 333, 60, 16, False)]
    assert switching.measure(taken, 1.0, 5e-4).verdict.word == "no_difference"
    assert switching.measure(taken, 1.0, 5e-4, True).change_pct < -20


def test_no_pauses_are_no_gain():
    """The same with and without the fix: wherever they fall."""
    wrong = 0
    for seed in range(500):
        rng = random.Random(seed)
        taken = switching.Taken(switching.Turn(("gc:freeze",), 4, 20, 16, seed))
        for k in range(taken.turn.units):
            taken.times[k] = 10 * math.exp(rng.gauss(0, 0.05)) + (300 if rng.random() < 0.02 else 0)
        wrong += switching.measure([taken], 1.0, 0.001, True).verdict.word != "no_difference"
    assert wrong <= 3  # 0.5 expected


def test_how_far_pauses_are_apart():
    def units(*every):
        return [10 + 0.1 * (k % 3) + sum(ms for n, ms in every if k % n == n - 1) for k in range(120)]

    assert pauses.period(units((50, 200))) == 50
    assert pauses.period(units((8, 5), (40, 300))) == 40  # the long ones take most of the time
    assert pauses.period(units((110, 200))) >= 100
    assert pauses.period(units()) == pauses.period([]) == pauses.period(units((50, 4))) == 0
    assert pauses.block(0, 16, 1000) == 16
    assert pauses.block(50, 16, 1000) == 1 + 2 * 50 + 6
    assert pauses.block(50, 16, 70) == 57 and pauses.block(50, 16, 30) == 30
    assert pauses.block(50, 16, 3) == 16


def test_times_agree_with_their_percentage():
    before, after = judge.agreeing(25.0, 6.0, -78.9)
    assert after / before - 1 == pytest.approx(-0.789)
    assert before * after == pytest.approx(150)
    plain = [[30.0, 10.0, 10.2, 9.8, 10.0]], [[30.0, 5.0, 5.1, 4.9, 5.0]]
    assert judge.usual_ms(*plain) == (10.0, 5.0) and judge.usual_ms([], [[1.0]]) is None
    taken = with_pauses(1, 30, 100)
    off, on = switching.usual_ms([taken], True)
    assert off == pytest.approx(13.3, rel=0.1) and on == pytest.approx(10, rel=0.05)


def test_how_long_turns_are():
    """As many pairs as fit into some seconds; calls need fewer units than steps."""
    assert switching.planned(("tf32",), "step:Net", 1.0, 0).pairs == switching.MOST_PAIRS
    assert switching.planned(("tf32",), "step:Net", 30.0, 0).pairs == 16
    assert switching.planned(("tf32",), "step:Net", 900.0, 0).pairs == switching.LEAST_PAIRS
    assert switching.planned(("gc:off",), "step:Net", 1.0, 16).block == 16
    step = switching.planned(("tf32",), "step:Net", 250.0, 0)
    assert (step.warm, step.block, step.left_out, step.pairs) == (2, 2, 1, switching.LEAST_PAIRS)
    assert switching.planned(("gc:off",), "step:Net", 250.0, 16).block == 16
    assert [switching.planned(("tf32",), "step:Net", 30.0, 0, look).pairs for look in (1, 2, 3, 4)] == [
        16, 50, 150, switching.MOST_IN_A_TURN]
    call = switching.planned(("tf32",), "call:generate", 200.0, 0)
    assert (call.warm, call.block, call.pairs) == (2, 2, switching.LEAST_PAIRS)
    call = switching.planned(("tf32",), "call:generate", 900.0, 0)
    assert (call.warm, call.block, call.pairs) == (2, 1, switching.LEAST_LONG_PAIRS)
    assert switching.planned(("x",), "call:generate", 900.0, 0, settles=1).block == 2
    step = switching.planned(("loader:8",), "step:optimizer.step", 50.0, 0, settles=8)
    assert (step.warm, step.block, step.left_out, step.pairs) == (8, 16, 8, switching.LEAST_PAIRS)
    assert [switching.planned(("tf32",), "call:generate", 900.0, 0, look).pairs for look in (2, 3)] == [6, 20]


def test_turns_follow_each_other():
    """After the program's own warm-up; that of a broken fix is over at once."""
    turns = [schedule.Turn((name,), 2, 2, 1) for name in ("a", "b", "c")]
    s, broken, seen = schedule.Schedule(turns), set(), []
    for k in range(schedule.FIRST + 13):
        s.next_unit(k, lambda fixes: not broken & set(fixes))
        seen.append((s.turn, s.at))
        if seen[-1] == (1, 0):
            broken.add("b")
    assert seen[:schedule.FIRST] == [(-1, 0)] * schedule.FIRST
    assert seen[schedule.FIRST:] == [(0, k) for k in range(6)] + [(1, 0)] + [(2, k) for k in range(6)]
    s.next_unit(99, lambda fixes: True)
    assert s.is_over and s.on == ()
