"""`mlmodelscope pitfalls`: every pitfall has a page, and every picture of the documentation is small."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app
from mlmodelscope.replicate.pitfall import PITFALLS, pitfall
from mlmodelscope.replicate.pitfall.explanation import cite, explanation_of, to_html

PICTURES = Path(__file__).parent.parent.parent / "docs" / "images" / "pitfalls"


def run(*words: str) -> Result:
    done = CliRunner().invoke(app, ["pitfalls", *words])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_all_are_listed_with_their_place_in_the_papers() -> None:
    text = run().stdout
    for each in PITFALLS.values():
        assert each.name in text and each.title in text
    assert [each["name"] for each in json.loads(run("--json").stdout)] == list(PITFALLS)


def test_one_is_explained() -> None:
    assert "# Colour layout\n" in run("color-layout").stdout and "Figure 3" in run("color-layout").stdout
    assert json.loads(run("color-layout", "--json").stdout)["explanation"] == explanation_of("color-layout")


def test_an_unknown_one_is_refused_with_a_hint() -> None:
    done = run("colour-layout")
    assert done.exit_code != 0 and "did you mean `color-layout`?" in done.stderr


@pytest.mark.parametrize("name", sorted(name for name in PITFALLS if PITFALLS[name].edits.__module__.startswith("mlm")))
def test_every_page_says_how_it_comes_about_how_it_shows_and_how_to_check(name: str) -> None:
    text = explanation_of(name)
    for words in ("**How it comes about.**", "**How it shows.**", "**How to check.**"):
        assert words in text, f"{name} has no `{words}`"


def test_every_page_belongs_to_a_pitfall() -> None:
    import mlmodelscope.replicate.pitfall.explanation as explanation

    pages = {path.stem for path in (Path(explanation.__file__).parent / "pages").glob("*.md")}
    assert pages <= PITFALLS.keys()


def test_a_plugin_is_explained_by_its_docstring() -> None:
    @pitfall("of-a-plugin", "A plugin's")
    def edits(plan: object) -> object:
        """What goes wrong there."""
        return iter(())

    try:
        assert explanation_of("of-a-plugin") == "What goes wrong there."
    finally:
        del PITFALLS["of-a-plugin"]
    assert explanation_of("of-nobody") == "" and explanation_of("../pages/exif") == ""


def test_a_page_becomes_html_in_which_nothing_runs() -> None:
    made = to_html("**Bold** `a < b` <script>\n\n[x](https://example.org/) [y](javascript:alert)")
    assert made == (
        "<p><strong>Bold</strong> <code>a &lt; b</code> &lt;script&gt;</p>\n"
        '<p><a href="https://example.org/" rel="noopener noreferrer">x</a> [y](javascript:alert)</p>'
    )
    assert cite("first paper, Figure 3").startswith('<a href="https://arxiv.org/abs/1811.09737"')


def test_every_picture_is_small_and_described() -> None:
    described = json.loads((PICTURES / "pictures.json").read_text())
    assert {path.stem for path in PICTURES.glob("*.jpg")} == described.keys() <= PITFALLS.keys()
    for path in PICTURES.glob("*.jpg"):
        assert path.stat().st_size <= 60_000, path.name
