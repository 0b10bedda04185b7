"""What `import strata` offers: the documented names and nothing else, whether it records or not."""
from pathlib import Path

import pytest

API = Path(__file__).parents[2] / "docs" / "api.md"
MODULES = ["bench", "ceilings", "fleet", "memory", "mock", "offload", "telefuser"]


@pytest.mark.parametrize("setting", ["on", "off"])
def test_names(program, setting):
    done = program("""
        import strata
        print(sorted(n for n in dir(strata) if not n.startswith("_")))
        print(sorted(n for n in strata.__all__ if not n.startswith("_")))
        assert strata.timeline.__name__ == "timeline" and callable(strata.timeline)
    """, STRATA=setting)
    shown, listed = done.stdout.splitlines()
    assert shown == listed, done.stderr
    page = API.read_text()
    assert [n for n in eval(listed) if f"strata.{n}" not in page] == []


@pytest.mark.parametrize("setting", ["on", "off"])
def test_public_modules(program, setting):
    pytest.importorskip("torch")  # strata.bench is of no use without
    done = program(f"""
        import importlib, strata
        timeline = strata.timeline
        for name in {MODULES}:
            importlib.import_module("strata." + name)
        assert strata.timeline is timeline  # no folder of ours takes the name
        print("done")
    """, STRATA=setting)
    assert done.stdout == "done\n", done.stderr


def test_everything_else_is_private(strata):
    top = Path(strata.__file__).parent
    found = {p.stem for p in top.glob("*.py")} | {p.parent.name for p in top.glob("*/__init__.py")}
    assert {n for n in found if not n.startswith("_")} == set(MODULES)
