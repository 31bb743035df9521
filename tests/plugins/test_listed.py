"""Verbs that list everything show what packages add; the others do not even look."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope import Settings, Store, evaluate
from mlmodelscope.cli.main import app
from mlmodelscope.plugins import installed
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.report.markdown import write_markdown

from .packages import step_named

Make = Callable[..., Any]
MODEL = """
name: wrong
version: 1.0.0
task: classification
license: MIT
framework: {name: toylinear}
inputs: [{type: image, processing: {rescale: 255}}]
outputs: [{type: logits, processing: {softmax: }}]
source: {graph_path: linear.json}
"""


@pytest.fixture
def run(settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Result]:
    monkeypatch.setenv("MLMODELSCOPE_HOME", str(settings.home))
    monkeypatch.setenv("MLMODELSCOPE_CACHE", str(settings.cache))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wrong.yml").write_text(MODEL)

    def command(*words: str, exits: int = 0) -> Result:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == exits, done.output
        return done

    return command


@pytest.fixture
def never_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def look() -> None:
        raise AssertionError("the installed packages were looked at")

    monkeypatch.setattr(installed, "all_plugins", look)


@pytest.mark.usefixtures("never_looked_at")
@pytest.mark.parametrize("words", [("--help",), ("records",), ("models",), ("datasets",), ("show", "resnet20-cifar10")])
def test_what_needs_nothing_of_others_does_not_look_for_it(run: Make, words: tuple[str, ...]) -> None:
    run(*words)


@pytest.mark.usefixtures("never_looked_at")
def test_an_evaluation_with_things_of_ours_does_not_look_either(
    make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures(count=2)), settings=settings)
    assert "decode" in write_markdown(record, Store(settings), ArtifactStore(settings))


def test_nothing_installed_is_nothing_listed(run: Make) -> None:
    assert json.loads(run("plugins", "--json").stdout) == []
    assert "no installed package adds anything" in run("plugins").stdout


def test_everything_installed_is_listed(run: Make, toy: Path, on_the_path: Callable[[Path], None]) -> None:
    on_the_path(toy)
    shown = run("plugins").stdout
    for name in ("toylinear", "toy_invert", "toy_temper", "toygrid", "toyconfig", "TOY", "toy-invert"):
        assert f" {name} " in shown
    assert "Toy grids hold negatives." in run("pitfalls", "toy-invert").stdout
    assert "toy-invert" in run("pitfalls").stdout
    assert "of mlmodelscope-toy 1.2.3" not in run("doctor", "--offline").stdout  # numpy is what it needs
    assert '"toygrid"' in run("schema", "dataset").stdout


def test_a_lint_is_explained_selected_ignored_and_exported(
    run: Make, toy: Path, on_the_path: Callable[[Path], None]
) -> None:
    on_the_path(toy)
    assert "toy_invert: 255" in run("check", "--explain", "TOY100").stdout
    assert "TOY100 warning" in run("check", "wrong.yml").stdout
    run("check", "wrong.yml", "--select", "toy-negative", "--strict", exits=1)
    assert "TOY100" not in run("check", "wrong.yml", "--ignore", "TOY").stdout
    sarif = json.loads(run("check", "wrong.yml", "--format", "sarif").stdout)["runs"][0]
    assert "TOY100" in [each["ruleId"] for each in sarif["results"]]
    assert "TOY100" in [each["id"] for each in sarif["tool"]["driver"]["rules"]]


def test_what_is_broken_is_listed_with_its_reason_and_an_exit_code(run: Make, odd: Make) -> None:
    entries = {"steps": {"odd": "odd"}, "lints": {"ODD": "odd"}, "pitfalls": {"odd": "odd"}, "metric": {"odd": "odd"}}
    odd({**entries, "importers": {"odd": "odd"}}, {"odd.py": "print('hello')\n1 / 0"})
    listed = run("plugins", "--json", exits=1)
    rows = json.loads(listed.stdout)
    assert [row["state"] for row in rows] == ["broken"] * 5
    assert all("odd.py:2" in row["reason"] for row in rows if row["kind"] != "?")
    assert "there is no group mlmodelscope.metric" in rows[-1]["reason"]
    assert "broken: the step `odd` of the package odd-package 0.1" in run("plugins", exits=1).stderr
    assert "broken" in run("doctor", "--offline", exits=1).stdout


def test_verbs_do_without_what_is_broken_and_say_so(run: Make, odd: Make, tmp_path: Path) -> None:
    odd({"lints": {"ODD": "odd"}, "pitfalls": {"odd": "odd"}, "importers": {"odd": "odd"}}, {"odd.py": "1 / 0"})
    checked = run("check", "wrong.yml", "--json")
    assert json.loads(checked.stdout) and "warning: the lint `ODD` of the package odd-package 0.1" in checked.stderr
    assert "cannot be used" in run("check", "wrong.yml", "--select", "ODD100", exits=1).stderr
    assert "warning: the pitfall `odd`" in run("pitfalls").stderr
    assert "cannot be used" in run("pitfalls", "odd", exits=1).stderr
    (tmp_path / "config.json").write_text('{"what": 1}')
    assert "hint: the importer `odd` of the package odd-package" in run("init", "config.json", exits=1).stderr


LINT = '''
from mlmodelscope.lint.rule import rule


@rule("ODD100", "odd", "warning")
def odd(subject):
    """Odd."""
    {body}
'''
PITFALL = '''
from mlmodelscope.replicate.pitfall.pitfall import pitfall


@pitfall("odd", "Odd")
def odd(plan):
    """Odd."""
    yield "odd", 5
'''
IMPORTER = '''
from mlmodelscope.author.importer.registry import importer


@importer("odd", lambda data: {recognised})
def odd(data, context):
    """odd"""
    return {{}}
'''


@pytest.mark.parametrize("body, reason", [("yield 5", "AttributeError"), ("return 1 / 0", "ZeroDivisionError")])
def test_a_lint_that_fails_while_it_runs_is_blamed(run: Make, odd: Make, body: str, reason: str) -> None:
    odd({"lints": {"ODD": "odd"}}, {"odd.py": LINT.format(body=body)})
    told = run("check", "wrong.yml", exits=1).stderr
    assert "the lint `ODD` of the package odd-package 0.1 cannot be used" in told and reason in told


def test_a_code_outside_its_own_letters_is_refused(run: Make, odd: Make) -> None:
    odd({"lints": {"ODD": "odd"}}, {"odd.py": LINT.format(body="yield").replace("ODD100", "M999")})
    (row,) = json.loads(run("plugins", "--json", exits=1).stdout)
    assert "registers the lint `M999` without an entry point in mlmodelscope.lints" in row["reason"]


@pytest.mark.parametrize("recognised, reason", [("True", "it returns {}, which is not a Draft"), ("1 / 0", "division")])
def test_an_importer_that_fails_is_blamed(run: Make, odd: Make, tmp_path: Path, recognised: str, reason: str) -> None:
    odd({"importers": {"odd": "odd"}}, {"odd.py": IMPORTER.format(recognised=recognised)})
    (tmp_path / "config.json").write_text('{"what": 1}')
    told = run("init", "config.json", exits=1).stderr
    assert "the importer `odd` of the package odd-package 0.1 cannot be used" in told and reason in told


def test_a_pitfall_that_fails_is_blamed(
    odd: Make, make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings
) -> None:
    from mlmodelscope.errors import PluginError
    from mlmodelscope.replicate.pitfall import check_names, variants_of

    odd({"pitfalls": {"odd": "odd"}}, {"odd.py": PITFALL})
    record = evaluate(make_model(), make_dataset(make_pictures(count=2)), settings=settings)
    check_names(["odd"])
    with pytest.raises(PluginError, match="the pitfall `odd` of the package odd-package 0.1 cannot be used"):
        variants_of(record.plan, ["odd"])


def test_a_step_that_only_a_pitfall_needs_is_part_of_its_variant(
    toy: Path, on_the_path: Callable[[Path], None], make_model: Make, make_dataset: Make, make_pictures: Make,
    settings: Settings,
) -> None:  # fmt: skip
    from mlmodelscope.replicate.pitfall import check_names, variants_of

    on_the_path(toy)
    record = evaluate(make_model(), make_dataset(make_pictures(count=2)), settings=settings)
    check_names(["toy-invert"])
    (variant,) = variants_of(record.plan, ["toy-invert"])
    assert record.plan.plugins == () and [each.name for each in variant.plan.plugins] == ["toy_invert"]


def test_another_package_s_module_may_be_imported(odd: Make) -> None:
    from mlmodelscope.plugins.steps import STEPS

    odd({"steps": {"even": "even"}}, {"even.py": step_named("even")}, name="even-package")
    odd({"steps": {"odd": "odd"}}, {"odd.py": f"import even\n{step_named('odd')}"})
    assert STEPS.find("odd") is not None and STEPS.find("even") is not None
