"""What keeps the documents true notices what is not: figures that differ from their CSV file, dead links."""
import importlib.util
import re
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
MARK = "<!-- = bench/results.csv[input=1 GB;tool=%s].%s -->"


def tool(name):
    spec = importlib.util.spec_from_file_location(name, TOP / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("shown, good", [("{:.2f}", True), ("{:.4f}", True), ("9{:.2f}", False)])
def test_figures_are_those_of_the_file(shown, good):
    docs = tool("check_docs")
    value = docs.value_of("bench/results.csv", "input=1 GB;tool=strata table", "seconds")
    text = f"takes {shown.format(value)}{MARK % ('strata table', 'seconds')} s"
    assert (list(docs.wrong_figures(text)) == []) is good


@pytest.mark.parametrize("mark", [MARK % ("strata table", "no_such_column"), MARK % ("no tool", "seconds"),
                                  "<!-- = bench/results.csv -->"])
def test_marks_that_lead_nowhere(mark):
    assert list(tool("check_docs").wrong_figures("takes 1" + mark))


def test_links_of_the_site():
    """Pages stay links, files outside of the documents become paths, what is missing ends the build."""
    site = tool("site")
    page = site.DOCS / "guides" / "ci.md"
    assert site.rewrite(page, "[try](../try.md#fixes)") == "[try](../try.md#fixes)"
    assert site.rewrite(page, "[these](../../examples/ci)") == "these (`examples/ci`)"
    with pytest.raises(SystemExit, match="dead link"):
        site.rewrite(page, "[gone](../gone.md)")


def test_every_page_is_in_the_index():
    """The navigation of the site is the index, so a page that is not there cannot be found."""
    site = tool("site")
    listed = {target for section in site.navigation() for pages in section.values()
              for target in ([pages] if isinstance(pages, str) else [t for p in pages for t in p.values()])}
    own = {str(p.relative_to(site.DOCS)) for p in [*site.DOCS.glob("*.md"), *site.DOCS.glob("guides/*.md")]}
    assert own <= listed, own - listed


def test_charts_show_the_figures():
    value = tool("check_docs").value_of("bench/results.csv", "input=1 GB;tool=strata table", "seconds")
    assert f"{value:.2f} s<" in re.findall(r"[\d.]+ s<", tool("figures").drawing())
