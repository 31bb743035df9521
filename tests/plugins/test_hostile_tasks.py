"""Packages whose task, reader or rule is broken: one sentence that names the package, no answer lost, and a way on."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from budget import at_night_but

from .counting import SAMPLES, lay_out
from .packages import install

Run = Callable[..., subprocess.CompletedProcess[str]]
TASK = """
from mlmodelscope.task.task import Column, NoTally, Task, add_task

add_task(Task({name!r}, "Odd", NoTally{more}))
"""


@pytest.fixture
def site(toy: Path, tmp_path: Path) -> Path:
    """The toy package, for each test to spoil."""
    return Path(shutil.copytree(toy, tmp_path / "site"))


@pytest.fixture
def run(site: Path, tmp_path: Path) -> Run:
    lay_out(tmp_path)
    environment = {
        **os.environ,
        "PYTHONPATH": str(site),
        "MLMODELSCOPE_HOME": str(tmp_path / "home"),
        "MLMODELSCOPE_CACHE": str(tmp_path / "cache"),
        "TOY_HOME": str(tmp_path),
    }

    def command(*words: str, exits: int = 0, **more: str) -> subprocess.CompletedProcess[str]:
        asked = [sys.executable, "-m", "mlmodelscope", *words]
        done = subprocess.run(
            asked, cwd=tmp_path, env={**environment, **more}, capture_output=True, text=True, check=False
        )
        assert done.returncode == exits, done.stderr + done.stdout
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return command


def spoil(site: Path, module: str, old: str, new: str) -> None:
    path = site / "mlmodelscope_toy" / f"{module}.py"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    # Python takes compiled code for current where the size and the second of the change are the same.
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)


PLAINLY = ("evaluate", "right.yml", "squares.yml")
EVALUATE = (*PLAINLY, "--json")
OWNER = "of the package mlmodelscope-toy 1.2.3"
BAD_RULES: Mapping[str, tuple[str, str, str]] = {
    "a number that is not one": (
        '"toy-count-error": float(',
        '"toy-count-error": float("nan") * float(',
        "computed nan",
    ),
    "an endless number": ('"toy-count-error": float(', '"toy-count-error": float("inf") + float(', "computed inf"),
    "a text for a number": ('"toy-count-error": float(', '"toy-count-error": str(', "is not a finite number"),
    "a list for numbers": (
        "return {name: found[name] for name in names if name in found}",
        "return list(names)",
        "AttributeError",
    ),
    "an error in a score": ("off = float(arrays", "off = 1 / 0 * float(arrays", "ZeroDivisionError"),
    "a score that nobody can read": (
        "return pack({}, off=off,",
        "return (lambda *a, **k: b'odd')({},",
        "was not made by",
    ),
    "a score that is a text": ("return pack({}, off=off,", "return (lambda *a, **k: 'odd')({},", "was not made by"),
    "a quality above all": ("quality=1 / (1 + abs(off))", "quality=2.0", "not between 0 and 1"),
    "details that are not JSON": ('"too_many": sum', '"too_many": {1}, "x": sum', "its details are not JSON"),
    "no rule": ("@task_rule", "# @task_rule", "registers no rule `toy_counting`"),
    "half a rule": ("def details", "def detail", "lacks `score`, `numbers` or `details`"),
    "an import that fails": ("import numpy as np", "import numpy as np\nimport nowhere", "No module named 'nowhere'"),
    "an exit at import": ("import numpy as np", "import numpy as np\nraise SystemExit(4)", "the exit code 4"),
}


@pytest.mark.parametrize(
    "old, new, reason",
    at_night_but(
        [(name, *values) for name, values in BAD_RULES.items()],
        "a number that is not one",
        "an error in a score",
        "details that are not JSON",
        "an exit at import",
    ),
)
def test_a_broken_rule_is_one_sentence_and_the_answers_stay(
    run: Run, site: Path, tmp_path: Path, old: str, new: str, reason: str
) -> None:
    spoil(site, "rule", old, new)
    error = run(*PLAINLY, exits=1).stderr
    assert f"the rule `toy_counting` {OWNER} cannot be used: " in error and reason in error
    assert "tell its author (Toy Author <toys@example.org>)" in error
    (journal,) = tmp_path.rglob("home/**/journal")
    assert journal.stat().st_size > 0


def test_a_rule_that_dies_is_named_and_the_next_run_resumes(run: Run, site: Path, tmp_path: Path) -> None:
    trap = "import os\n        if not os.path.exists(os.path.join(os.environ['TOY_HOME'], 'safe')):\n            "
    spoil(site, "rule", "off = float(arrays", f"{trap}os._exit(7)\n        off = float(arrays")
    error = run(*PLAINLY, exits=1).stderr
    assert "the measuring process ended with exit code 7 while it measured toy_counting by the rule " + OWNER in error
    assert "hint: the answers so far are kept: the same command resumes where it left off" in error
    (tmp_path / "safe").touch()
    resumed = run(*EVALUATE)
    assert f"{SAMPLES} of {SAMPLES}" in resumed.stderr and json.loads(resumed.stdout)["failed"] == 0
    same = json.loads(run(*EVALUATE, MLMODELSCOPE_HOME=str(tmp_path / "other")).stdout)
    tables = [path.read_bytes() for path in sorted(tmp_path.rglob("samples.parquet"))]
    assert len(tables) == 2 and tables[0] == tables[1]
    assert same["metrics"] == json.loads(resumed.stdout)["metrics"]


@pytest.mark.slow(reason="a worker whose host was killed ends some seconds later, and its run is waited for")
def test_a_host_that_is_killed_in_between_resumes_to_the_same_bytes(run: Run, site: Path, tmp_path: Path) -> None:
    """The reader kills the host, as the kernel may, when it has seen some samples; the second time it does not."""
    trap = """import os, signal
        self.counted = getattr(self, "counted", 0) + 1
        if self.counted == 40 and not os.path.exists(os.path.join(os.environ["TOY_HOME"], "killed")):
            open(os.path.join(os.environ["TOY_HOME"], "killed"), "w").close()
            os.kill(int(open(os.path.join(os.environ["TOY_HOME"], "host")).read()), signal.SIGKILL)
        count ="""
    spoil(site, "reader", "count =", trap)
    (tmp_path / "sitecustomize.py").write_text(
        "import os, sys\n"
        "if 'evaluate' in getattr(sys, 'orig_argv', ()):\n"
        "    open(os.path.join(os.environ['TOY_HOME'], 'host'), 'w').write(str(os.getpid()))\n"
    )
    path = os.pathsep.join([str(site), str(tmp_path)])
    run(*EVALUATE, exits=-9, PYTHONPATH=path)
    resumed = json.loads(run(*EVALUATE, PYTHONPATH=path).stdout)
    assert (resumed["samples"], resumed["failed"]) == (SAMPLES, 0)
    run(*EVALUATE, MLMODELSCOPE_HOME=str(tmp_path / "other"))
    tables = [table.read_bytes() for table in sorted(tmp_path.rglob("samples.parquet"))]
    assert len(tables) == 2 and tables[0] == tables[1]


def test_a_timeout_that_is_not_a_number_is_refused(run: Run) -> None:
    error = run(*PLAINLY, exits=2, MLMODELSCOPE_MEASURING_TIMEOUT="soon").stderr
    assert "MLMODELSCOPE_MEASURING_TIMEOUT is `soon`, which is not a number of seconds" in error


@pytest.mark.slow(reason="waits for the timeout, and for the process to end by itself")
def test_a_rule_that_hangs_is_ended_and_named(run: Run, site: Path) -> None:
    spoil(site, "rule", "off = float(arrays", "__import__('threading').Event().wait()\n        off = float(arrays")
    error = run(*PLAINLY, exits=1, MLMODELSCOPE_MEASURING_TIMEOUT="3").stderr
    assert "gave no answer for 3 s" in error and f"toy_counting by the rule {OWNER}" in error


def test_a_rule_that_ends_the_process_at_import_is_listed_as_broken(run: Run, site: Path) -> None:
    spoil(site, "rule", "import numpy as np", "import os\n\nimport numpy as np\n\nos._exit(5)")
    rows = json.loads(run("plugins", "--json", exits=1).stdout)
    (broken,) = [row for row in rows if row["state"] == "broken"]
    assert broken["kind"] == "rule" and "ended with exit code 5" in broken["reason"]
    assert "ended with exit code 5" in run(*PLAINLY, exits=1).stderr


def test_what_a_rule_prints_is_not_among_the_results(run: Run, site: Path) -> None:
    spoil(site, "rule", "off = float(arrays", "print('look at me')\n        off = float(arrays")
    done = run(*EVALUATE)
    assert json.loads(done.stdout)["failed"] == 0 and "look at me" in done.stderr


BAD_READERS: Mapping[str, tuple[str, str, str]] = {
    "no array": ('return [("count", count)], {}', 'return [("count", 3)], {}', "no attribute 'dtype'"),
    "fields that are not JSON": ("count)], {}", "count)], {'x': float('nan')}", "cannot be told to the host"),
    "no fields": ("count)], {}", "count)], 5", "do not describe their arrays"),
    "numbers that nobody reads": ("np.float64)", "np.complex64)", "the reader's arrays must be of"),
    "nothing at all": (
        "def answer_of",
        "def read(self, values, prepared):\n        pass\n\n    def answer_of",
        "gave None",
    ),
    "too few answers": (
        "def answer_of",
        "def read(self, values, prepared):\n        return __import__('mlmodelscope_worker').task.Read({})\n\n"
        "    def answer_of",
        "were not made by arrays_read",
    ),
}


@pytest.mark.parametrize("old, new, reason", BAD_READERS.values(), ids=list(BAD_READERS))
def test_what_a_reader_makes_of_nothing_fails_its_samples_with_the_reason(
    run: Run, site: Path, old: str, new: str, reason: str
) -> None:
    spoil(site, "reader", old, new)
    done = run(*EVALUATE, exits=3)
    record = json.loads(done.stdout)
    assert record["failed"] == SAMPLES and record["metrics"] == {}
    assert reason in record["failures"][0]["reason"]


BAD_TASKS: Mapping[str, tuple[str, str, str]] = {
    "an error at import": ("NAME = ", "1 / 0\nNAME = ", r"importing mlmodelscope_toy.task fails: ZeroDivisionError"),
    "an exit at import": ("NAME = ", "raise SystemExit(3)\nNAME = ", "the exit code 3"),
    "a column of every task": ('Column("found", "float64")', 'Column("digest", "string")', "is there already"),
    "a column twice": ('Column("found", "float64")', 'Column("target", "string")', "is there already"),
    "a column of classes": ('Column("found", "float64")', 'Column("right", "bool")', "and no `right`"),
    "no column for the score": (', Column("score", "binary")', "", "needs the columns target"),
    "a type that no table has": ('"float64")', '"tensor")', "cannot be a column"),
    "a column with a line break": ('Column("found"', 'Column("fou\\nnd"', "cannot be a column"),
    "another name": ('NAME = "toy_counting"', 'NAME = "toy/counting"', "without an entry point in mlmodelscope."),
    "a name of two lines": ('NAME = "toy_counting"', 'NAME = "toy\\ncounting"', "without an entry point in"),
    "a task of ours": ('NAME = "toy_counting"', 'NAME = "object_detection"', "replaces the task `object_detection`"),
}


@pytest.mark.parametrize(
    "old, new, reason",
    at_night_but(
        [(name, *values) for name, values in BAD_TASKS.items()],
        "an error at import",
        "no column for the score",
        "a column with a line break",
        "a task of ours",
    ),
)
def test_a_broken_task_is_one_sentence_and_stops_nothing_else(
    run: Run, site: Path, old: str, new: str, reason: str
) -> None:
    spoil(site, "task", old, new)
    error = run(*PLAINLY, exits=1).stderr
    assert f"the task `toy_counting` {OWNER} cannot be used: " in error and reason in error
    rows = json.loads(run("plugins", "--json", exits=1).stdout)
    assert {row["state"] for row in rows if row["kind"] in ("task", "measure")} == {"broken"}
    assert {row["state"] for row in rows if row["kind"] not in ("task", "measure")} == {"ok"}
    run("show", "resnet20-cifar10")


def test_a_function_of_a_task_that_fails_is_blamed(run: Run, site: Path) -> None:
    spoil(site, "task", 'due = json.loads(row["target"])["count"]', 'due = json.loads(row["target"])["number"]')
    run(*EVALUATE)
    error = run("report", "latest", "--output", "page.html", exits=1).stderr
    assert f"the task `toy_counting` {OWNER} cannot be used: KeyError: 'number' (task.py:" in error
    spoil(site, "task", 'answer.arrays["count"]', 'answer.arrays["number"]')
    error = run(*PLAINLY, exits=1).stderr
    assert f"the task `toy_counting` {OWNER} cannot be used: KeyError: 'number' (task.py:" in error


def test_two_packages_with_one_task_are_both_refused(run: Run, site: Path) -> None:
    other = TASK.format(name="toy_counting", more="")
    install(site, {"tasks": {"toy_counting": "odd"}}, {"odd.py": other})
    error = run(*PLAINLY, exits=1).stderr
    assert "adds a task `toy_counting`, too, and only one of them can be meant" in error


@pytest.mark.parametrize("name", ["odd/task", "../odd", "Odd", "odd task"])
def test_a_name_that_is_not_one_is_refused(run: Run, site: Path, name: str) -> None:
    install(site, {"tasks": {name: "odd"}}, {"odd.py": TASK.format(name=name, more="")})
    rows = json.loads(run("plugins", "--json", exits=1).stdout)
    (broken,) = [row for row in rows if row["state"] == "broken"]
    assert f"`{name}` is not a name for a task" in broken["reason"]
    assert name not in run("schema", "model").stdout


def test_a_task_without_a_rule_is_refused_with_what_is_missing(run: Run, site: Path) -> None:
    (about,) = site.glob("*.dist-info/entry_points.txt")
    kept = about.read_text().replace("[mlmodelscope.rules]\ntoy_counting = mlmodelscope_toy.rule\n", "")
    assert kept != about.read_text()
    about.write_text(kept)
    error = run(*PLAINLY, exits=1).stderr
    assert "no rule says how answers for `toy_counting` are scored" in error and "docs/extend.md" in error


def test_a_task_without_a_reader_is_refused_before_the_first_sample(run: Run, site: Path) -> None:
    (about,) = site.glob("*.dist-info/entry_points.txt")
    kept = about.read_text().replace("[mlmodelscope.readers]\ntoy_counting = mlmodelscope_toy.reader\n", "")
    assert kept != about.read_text()
    about.write_text(kept)
    assert "cannot read the outputs of the task `toy_counting`" in run(*PLAINLY, exits=1).stderr
