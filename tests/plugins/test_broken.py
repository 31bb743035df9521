"""A package that is broken is refused with its name, its version and the reason, and stops nobody else."""

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mlmodelscope.errors import PluginError
from mlmodelscope.plugins.installed import all_plugins
from mlmodelscope.plugins.predictors import PREDICTORS
from mlmodelscope.plugins.steps import STEPS
from mlmodelscope_worker import pipeline

from .packages import install, step_named

Odd = Callable[..., Path]
GOOD = step_named("odd")

BROKEN = {
    "an import that fails": (
        "import nowhere_to_be_found",
        "ModuleNotFoundError: No module named 'nowhere_to_be_found'",
    ),
    "an error": ("\n1 / 0", r"importing odd fails: ZeroDivisionError: division by zero \(odd.py:1\)"),
    "a syntax error": ("def odd(:\n    pass", r"odd is not valid for Python 3\.\d+\.\d+: invalid syntax \(odd.py:1\)"),
    "an exit": ("import sys\nsys.exit(7)", r"ends the program with the exit code 7 \(odd.py:2\)"),
    "nothing registered": ("x = 1", "odd registers no step `odd`"),
    "another name": (step_named("even"), "registers the step `even` without an entry point in mlmodelscope.steps"),
    "one more": (GOOD + step_named("even"), "registers the step `even` without an entry point"),
    "a name of ours": (
        GOOD + step_named("decode"),
        "the name `decode` is taken by mlmodelscope_worker.pipeline.decode",
    ),
    "a step of ours replaced": (
        GOOD + "from mlmodelscope_worker.pipeline import STEPS\nSTEPS['mean'] = STEPS['odd']",
        "odd replaces the step `mean`",
    ),
    "no declaration": (
        "from mlmodelscope_worker.pipeline import STEPS\nSTEPS['odd'] = print",
        "registers <built-in function print> as the step `odd`",
    ),
    "no function": ("from mlmodelscope_worker.pipeline.step import step\nstep()(5)", "5 is not a function with a name"),
    "annotations that are types": (
        GOOD.replace("(image)", "(image, *, size: int = 3)"),
        "parameter `size` of `odd` is annotated with <class 'int'>, where a kind such as",
    ),
    "annotations that are texts": (
        "from __future__ import annotations\n" + GOOD.replace("(image)", "(image, *, size: Number('x') = 3)"),
        "leave out `from __future__ import annotations`",
    ),
    "no annotation": (GOOD.replace("(image)", "(image, *, size=3)"), "`size` of `odd` has no annotation"),
    "a main parameter that is none": (GOOD.replace("@step()", "@step(main='size')"), "is not one of its parameters"),
}


@pytest.mark.parametrize("source, reason", BROKEN.values(), ids=list(BROKEN))
def test_whatever_is_wrong_is_one_sentence_with_the_package(odd: Odd, source: str, reason: str) -> None:
    odd({"steps": {"odd": "odd"}}, {"odd.py": source})
    before = dict(pipeline.STEPS)
    for _ in range(2):  # the second time as well, though nothing is imported again
        with pytest.raises(PluginError, match=reason) as caught:
            STEPS.find("odd")
    assert caught.value.message.startswith("the step `odd` of the package odd-package 0.1 cannot be used: ")
    assert caught.value.hint == "tell its author (them@example.org), or remove it: pip uninstall odd-package"
    assert before == pipeline.STEPS and "odd" not in sys.modules
    assert STEPS.get("odd") is None and "odd" in STEPS
    assert STEPS.find("decode") is not None and "odd" not in STEPS.all()


@pytest.mark.parametrize(
    "value, reason",
    [
        ("missing", "there is no module missing"),
        ("odd.missing", "there is no module odd.missing"),
        ("odd:missing", "odd has no `missing`"),
        ("odd:LIMIT", "`LIMIT` of odd is neither a function nor a class"),
        ("../../etc/passwd", "`../../etc/passwd` is not the name of a module"),
        ("..odd", "`..odd` is not the name of a module"),
        ("", "`` is not the name of a module"),
        ("odd; import os", "is not the name of a module"),
        ("json", "its module is called json, which would hide another module"),
        ("numpy.linalg", "its module is called numpy"),
        ("mlmodelscope_worker.session", "its module is called mlmodelscope_worker"),
    ],
)
def test_an_entry_point_that_leads_nowhere_is_refused(odd: Odd, value: str, reason: str) -> None:
    odd({"steps": {"odd": value}}, {"odd.py": f"LIMIT = 3\n{GOOD}"})
    (plugin,) = STEPS.plugins()
    problem = STEPS.problem(plugin)
    assert problem is not None and reason in problem.message


def test_a_line_that_is_no_entry_point_is_shown_and_not_the_end(odd: Odd) -> None:
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    (about,) = folder.glob("*.dist-info")
    about.joinpath("entry_points.txt").write_text("[mlmodelscope.steps]\n\x1b[31mwhat\nodd = odd\n; a remark\n")
    shown = {each.name: STEPS.problem(each) for each in STEPS.plugins()}
    assert list(shown) == ["\\x1b[31mwhat", "odd"] and shown["odd"] is None
    assert "is not the name of a module" in str(shown["\\x1b[31mwhat"])


@pytest.mark.parametrize("name", ["Odd", "odd-step", "../odd", "ödd", "1odd"])
def test_a_name_that_a_manifest_could_not_say_is_refused(odd: Odd, name: str) -> None:
    odd({"steps": {name: "odd"}}, {"odd.py": GOOD})
    (plugin,) = STEPS.plugins()
    assert "is not a name for a step, which must match" in str(STEPS.problem(plugin))


def test_a_predictor_s_name_is_one_that_every_spelling_leads_to(odd: Odd) -> None:
    odd({"predictors": {"odd_net": "odd"}}, {"odd.py": ""})
    (plugin,) = PREDICTORS.plugins()
    assert "`odd_net` is not a name for a predictor" in str(PREDICTORS.problem(plugin))


def test_two_packages_with_one_name_are_both_refused_and_named(odd: Odd) -> None:
    odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD}, name="first")
    odd({"steps": {"odd": "other"}}, {"other.py": GOOD}, name="second", version="2.0")
    with pytest.raises(PluginError, match="only one of them can be meant"):
        STEPS.find("odd")
    told = " ".join(str(STEPS.problem(each)) for each in STEPS.plugins())
    assert "first 0.1 adds a step `odd`, too" in told and "second 2.0 adds a step `odd`, too" in told


def test_a_name_of_ours_stays_ours(odd: Odd) -> None:
    odd({"steps": {"decode": "odd"}}, {"odd.py": step_named("decode")})
    (plugin,) = STEPS.plugins()
    assert "MLModelScope has a step `decode` of its own" in str(STEPS.problem(plugin))
    assert STEPS["decode"].function.__module__ == "mlmodelscope_worker.pipeline.decode"
    assert STEPS.origin("decode") is None


def test_what_a_module_prints_is_not_among_the_results(odd: Odd, capsys: pytest.CaptureFixture[str]) -> None:
    odd({"steps": {"odd": "odd"}}, {"odd.py": f"print('hello')\n{GOOD}"})
    assert STEPS.find("odd") is not None
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == "hello\n"


def test_a_module_that_failed_half_way_can_still_be_used_by_another_entry_point(odd: Odd) -> None:
    files = {"odd/__init__.py": "", "odd/good.py": GOOD, "odd/bad.py": "from odd import good\n1 / 0\n"}
    odd({"steps": {"bad": "odd.bad", "odd": "odd.good"}}, files)
    with pytest.raises(PluginError, match="ZeroDivisionError"):
        STEPS.find("bad")
    assert STEPS.find("odd") is not None


def test_of_two_versions_the_first_on_the_path_counts(
    odd: Odd, tmp_path: Path, on_the_path: Callable[[Path], None]
) -> None:
    odd({"steps": {"odd": "odd"}}, {"odd.py": "1 / 0"}, version="2.0")
    folder = install(tmp_path / "newer", {"steps": {"odd": "odd"}}, {"odd.py": GOOD}, version="3.0")
    on_the_path(folder)
    assert [each.version for each in STEPS.plugins()] == ["3.0"] and STEPS.find("odd") is not None
    hidden = [each for each in all_plugins() if each.hidden]
    assert [each.version for each in hidden] == ["2.0"]
    assert f"hidden by odd-package 3.0 in {folder}" in hidden[0].hidden


def test_a_module_that_is_imported_from_elsewhere_is_not_taken_for_the_package_s(
    odd: Odd, tmp_path: Path, on_the_path: Callable[[Path], None]
) -> None:
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    (tmp_path / "before").mkdir()
    (tmp_path / "before" / "odd.py").write_text(GOOD)
    on_the_path(tmp_path / "before")
    with pytest.raises(
        PluginError, match=f"Python imports odd from {tmp_path}/before/odd.py, not from {folder}/odd.py"
    ):
        STEPS.find("odd")


def test_a_zipped_egg_is_refused(tmp_path: Path, on_the_path: Callable[[Path], None]) -> None:
    egg = tmp_path / "odd_package-0.1-py3.11.egg"
    with zipfile.ZipFile(egg, "w") as packed:
        packed.writestr("odd.py", GOOD)
        packed.writestr("EGG-INFO/PKG-INFO", "Metadata-Version: 2.1\nName: odd-package\nVersion: 0.1\n")
        packed.writestr("EGG-INFO/entry_points.txt", "[mlmodelscope.steps]\nodd = odd\n")
    on_the_path(egg)
    with pytest.raises(PluginError, match=f"odd lies inside the archive {egg}: install the package unpacked"):
        STEPS.find("odd")


def test_what_is_compiled_for_one_python_does_not_go_into_a_stack(odd: Odd) -> None:
    odd({"steps": {"odd": "odd.step"}}, {"odd/__init__.py": "", "odd/step.py": GOOD, "odd/quick.so": ""})
    with pytest.raises(PluginError, match="quick.so is compiled for one Python, and a stack may have another"):
        STEPS.find("odd")


def test_a_link_out_of_the_package_is_refused(odd: Odd, tmp_path: Path) -> None:
    folder = odd({"steps": {"odd": "odd.step"}}, {"odd/__init__.py": "", "odd/step.py": GOOD})
    (tmp_path / "secret").write_text("secret")
    (folder / "odd" / "data").symlink_to(tmp_path / "secret")
    with pytest.raises(PluginError, match="odd/data is a link that leads out of the package"):
        STEPS.find("odd")
