"""strata.report(trace): the page inline in a notebook, the text elsewhere."""
import html
import html.parser
from pathlib import Path

import pytest

DATA = Path(__file__).parent.parent / "data"
TRACE = DATA / "whatif" / "pingpong_v0.json.gz"


class Frames(html.parser.HTMLParser):
    """The attributes of every tag."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def page():
    import strata
    try:
        return strata.report(TRACE, height=500)
    except RuntimeError as why:
        if "viewer" in str(why):
            pytest.skip(str(why))
        raise


def test_inline(page):
    """One frame, shut off from the notebook, that holds exactly the page."""
    frames = Frames()
    frames.feed(page._repr_html_())
    ((tag, attributes),) = frames.tags
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
    assert attributes["height"] == "500"
    assert attributes["srcdoc"] == page.html and page.html.startswith("<!DOCTYPE html>")


def test_text(page, tmp_path):
    assert "wall" in str(page) and "\033" not in str(page)
    assert "pingpong_v0" in repr(page)
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html


def test_mistakes_are_told(strata, tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match="missing.json"):
        strata.report(tmp_path / "missing.json")
    (tmp_path / "odd.json").write_text("<html>")
    with pytest.raises(RuntimeError, match="odd.json"):
        strata.report(tmp_path / "odd.json")
    monkeypatch.setattr("strata._report.page.program", lambda: None)
    with pytest.raises(RuntimeError, match="not installed"):
        strata.report(TRACE)


def test_without_recording(program):
    done = program(f"""
        import strata
        assert strata.report() == {{"stages": {{}}}}
        try:
            strata.report({str(TRACE)!r})
            print("read")
        except RuntimeError as why:
            assert "viewer" in str(why)
            print("read")
    """, STRATA="off")
    assert (done.stdout, done.stderr) == ("read\n", "")
