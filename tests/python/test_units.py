"""Numbers are written as the command and the page write them."""
import json
from pathlib import Path

import pytest

from strata._base import units

VECTORS = json.loads((Path(__file__).parents[1] / "format_vectors.json").read_text())
WRITE = {"time_ns": units.nanoseconds, "bytes": units.size, "count": units.count, "pct": units.percent}


@pytest.mark.parametrize("key", WRITE)
def test_vectors(key):
    assert len(VECTORS[key]) > 5
    for value, text in VECTORS[key]:
        assert WRITE[key](value) == text, (key, value)


def test_milliseconds_are_the_same_times():
    for ns, text in VECTORS["time_ns"]:
        assert units.duration(ns / 1e6) == text


def test_what_is_not_known_is_a_dash():
    assert units.duration(None) == units.size(None) == "-"
