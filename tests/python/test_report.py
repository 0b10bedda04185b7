"""strata.report(): one kind of object for this run and for a trace. The page inline in a notebook,
the text elsewhere, and a dict everywhere, whatever of the command is missing."""
import html
import html.parser
import json
import shlex
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
    found = strata.report(TRACE, height=500)
    if "viewer" in found.missing:
        pytest.skip(found.missing)
    return found


@pytest.fixture
def without_viewer(tmp_path, monkeypatch):
    """A command that was built without the viewer."""
    from strata._base.command import program
    script = tmp_path / "strata"
    script.write_text(f"""#!/bin/sh
case "$*" in *--html*) echo 'strata: this strata was built without the HTML viewer' >&2; exit 3 ;; esac
exec {shlex.quote(program())} "$@"
""")
    script.chmod(0o755)
    monkeypatch.setenv("STRATA_BIN", str(script))


def test_inline(page):
    """One frame, shut off from the notebook, that holds exactly the page."""
    frames = Frames()
    frames.feed(page._repr_html_())
    ((tag, attributes),) = frames.tags
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
    assert attributes["height"] == "500"
    assert attributes["srcdoc"] == page.html and page.html.startswith("<!DOCTYPE html>")
    assert page.missing == ""


def test_text_dict_and_files(page, tmp_path):
    assert "faster with" in str(page) and "\033" not in str(page)
    assert "pingpong_v0" in repr(page)
    assert page["wall_us"] > 0 and page["findings"]
    for name in ("report.html", "report.json", "report.txt"):
        page.save(tmp_path / name)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html
    assert json.loads((tmp_path / "report.json").read_text()) == page
    assert (tmp_path / "report.txt").read_text() == str(page)


def test_of_this_run_it_is_the_same_kind(strata, page):
    with strata.stage("<work>"):
        pass
    found = strata.report()
    assert type(found) is type(page)
    assert found["stages"]["<work>"]["count"] == 1 and found.trace is None
    assert "<work>" in str(found) and "this run" in repr(found)
    assert found._repr_html_().startswith("<pre>") and "&lt;work&gt;" in found._repr_html_()
    assert found.html.startswith("<!DOCTYPE html>") and "&lt;work&gt;" in found.html
    assert found.missing == ""


def test_nothing_recorded_yet(strata, tmp_path):
    found = strata.report()
    assert found["stages"] == {} and str(found) == "strata: no stages yet\n"
    found.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text())["num_stages"] == 0


def test_without_a_viewer_all_but_the_page_is_there(strata, page, without_viewer):
    found = strata.report(TRACE)
    assert type(found) is type(page) and found == page
    assert "built without the HTML viewer" in found.missing
    assert str(found) == str(page)
    assert found.html.startswith("<!DOCTYPE html>") and "faster with" in found.html
    assert found._repr_html_().startswith("<pre>")


def test_without_the_command_nothing_is_raised(strata, page, monkeypatch):
    for module in ("_report.report", "_base.command"):
        monkeypatch.setattr(f"strata.{module}.program", lambda: None)
    found = strata.report(TRACE)
    assert type(found) is type(page) and found == {}
    assert "not installed" in found.missing and found.missing in str(found)
    assert found.missing.split(";")[0] in found._repr_html_()


def test_a_command_that_cannot_run_is_no_exception(strata, tmp_path, monkeypatch):
    (tmp_path / "strata").write_text("not a program")
    (tmp_path / "strata").chmod(0o755)
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "strata"))
    assert "Exec format error" in strata.report(TRACE).missing


@pytest.mark.parametrize("end", ["exit 127", "kill -9 $$"])
def test_a_command_that_does_not_start_is_no_exception(strata, tmp_path, monkeypatch, end):
    (tmp_path / "strata").write_text(
        f"#!/bin/sh\necho 'libisal.so.2: cannot open shared object file' >&2\n{end}\n")
    (tmp_path / "strata").chmod(0o755)
    monkeypatch.setenv("STRATA_BIN", str(tmp_path / "strata"))
    found = strata.report(TRACE)
    assert found == {} and "libisal.so.2" in found.missing and "libisal.so.2" in found.html


def test_mistakes_are_told(strata, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing.json"):
        strata.report(tmp_path / "missing.json")
    (tmp_path / "odd.json").write_text("<html>")
    with pytest.raises(RuntimeError, match="odd.json"):
        strata.report(tmp_path / "odd.json")


def test_without_recording(program):
    done = program(f"""
        import strata
        found = strata.report()
        assert found == {{"stages": {{}}}} and str(found) == "strata: no stages yet\\n"
        assert type(strata.report({str(TRACE)!r})) is type(found)
        print("read")
    """, STRATA="off")
    assert (done.stdout, done.stderr) == ("read\n", "")


def test_environment_has_the_flags_of_torch():
    torch = pytest.importorskip("torch")
    from strata._report import environment
    with torch.autograd.set_detect_anomaly(True):
        assert environment.describe()["torch"]["anomaly_detection"] is True
    found = environment.describe()["torch"]
    assert found["anomaly_detection"] is False and found["deterministic"] is False
    assert found["threads"] >= 1 and found["matmul_precision"] == "highest" and found["sdp_math"] is True
    json.dumps(environment.describe())


def test_stages_are_rows_of_a_data_frame(program):
    import strata
    rows = strata.report(TRACE).stages
    assert {"name", "path", "count", "cpu_us", "median_us"} <= set(rows[0])
    done = program("""
        import strata
        for _ in range(3):
            with strata.stage("load"):
                pass
        print([(row["name"], row["count"]) for row in strata.report().stages])
    """)
    assert done.status == 0 and done.stdout == "[('load', 3)]\n", done
    (row,) = strata.report(done.folder()).stages  # of a run that has ended
    assert (row["path"], row["count"]) == ("load", 3)
