"""The page of strata try: bars where they belong, and nothing of the program's words as HTML."""
import re
from html.parser import HTMLParser

import pytest

from strata._try import page


def fix(name, change=None, low=None, high=None, verdict="faster", predicted=None, **more):
    measured = None if change is None else {"change_pct": change, "low_pct": low, "high_pct": high,
                                            "verdict": verdict, "pairs": 30}
    return {"fix": name, "specs": name.split(" + "), "predicted_pct": predicted, "rule": "some_rule",
            "measured": measured, "before_ms": 20.0, "median_ms": 10.0, "failure": None,
            "outputs": {"verdict": "same"}, "trials": [], "switched": [],
            "set_up": {"seconds": 0.0, "again_s": None, "pays_after": None}, **more}


def result(*fixes, **more):
    return {"program": "p.py", "unit": {"words": "steps", "median_ms": 25.4}, "machine": {}, "best": [],
            "fixes": list(fixes), "combinations": [], "code": [], "notes": [], "not_tried": [],
            "processes": 1, "ladder": [], **more}


def bars(text):
    """(class, left, width) of what is drawn, in percent of the cell."""
    found = re.findall(r'<div class="((?:bar|whisker)[ \w]*)" style="(?:left:([\d.]+)%;)?width:([\d.]+)%',
                       text)
    return [(kind, float(left or 0), float(width)) for kind, left, width in found]


def test_bars_and_whiskers():
    drawn = bars(page.text(result(fix("tf32", -50, -60, -40, predicted=70.0))))
    assert drawn == [("bar predicted", 0, pytest.approx(29.4)), ("bar measured", 0, pytest.approx(49.0)),
                     ("whisker", pytest.approx(39.2), pytest.approx(19.6))]
    colours = [bars(page.text(result(fix("f", 3, -1, 7, verdict))))[0][0]
               for verdict in ("faster", "slower", "no_difference", "unknown")]
    assert colours == ["bar measured", "bar slower", "bar open", "bar open"]


def test_what_does_not_fit_or_is_not_known():
    drawn = bars(page.text(result(fix("f", 4, -30, 300, "no_difference"))))
    assert drawn[1][0] == "whisker cut" and drawn[1][1] + drawn[1][2] == pytest.approx(100)
    assert [kind for kind, _, _ in bars(page.text(result(fix("f", -30, None, None, "unknown"))))] == [
        "bar open"]
    failed = page.text(result(fix("f", predicted=20.0, failure={"reason": "no", "source": None},
                                  median_ms=None)))
    assert len(bars(failed)) == 1 and "f: failed: no" in failed
    assert "Trials" not in page.text(result())


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = set()

    def handle_starttag(self, tag, attrs):
        self.seen |= {tag, *(name for name, _ in attrs)}


def test_everything_is_escaped():
    evil = '"><img src=x onerror=alert(1)><script>'
    broken = fix(evil, failure={"reason": evil, "source": {"file": evil, "line": 1, "function": evil}})
    text = page.text(result(
        fix(evil, -50, -60, -40, predicted=70.0, outputs={"verdict": "different", "why": evil}), broken,
        program=evil, unit={"words": evil, "median_ms": None}, best=[evil], notes=[evil], not_tried=[evil],
        machine={"device_name": evil, "torch": evil}, ladder=[{"name": evil, "rule": "some_rule"}],
        code=[{"fix": evil, "lines": [evil], "patch": None, "source": {
            "file": evil, "line": 1, "function": evil}}]))
    tags = Tags()
    tags.feed(text)
    assert not tags.seen & {"img", "script", "onerror", "src"} and text.count("&lt;img") > 8
