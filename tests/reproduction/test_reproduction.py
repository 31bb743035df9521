"""A right reimplementation passes, and of each broken twin the component that is broken is named first."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mlmodelscope.errors import ManifestError, TrustError, UsageError
from mlmodelscope.reproduction.check import Conditions, check_reproduction
from mlmodelscope.reproduction.history import keep, runs_of
from mlmodelscope.reproduction.order import COMPONENTS, NEEDS, ORDER, TOLERANCES, parse_checks
from mlmodelscope.reproduction.reproduction_page import reproduction_html, reproduction_junit
from mlmodelscope.reproduction.result import Checked
from mlmodelscope.settings import Settings
from mlmodelscope.watcher import Watcher

from .reproduction_world import MANIFEST, MINE, ORIGINAL, TWINS, twin, write_world


def checked(path: Path, *checks: str, **conditions: object) -> Checked:
    settings = Settings(path.parent / "home", path.parent / "cache")
    given = Conditions(settings, Watcher(), trust=True, **conditions)  # type: ignore[arg-type]
    return check_reproduction(path, checks or ORDER, given)


def verdicts(found: Checked) -> dict[str, str]:
    return {each.check: each.verdict for each in found.results}


def test_nothing_is_found_in_a_right_reimplementation(tmp_path: Path) -> None:
    found = checked(write_world(tmp_path))
    assert verdicts(found) == {
        **dict.fromkeys(ORDER, "passed"),
        "curve": "skipped",
        "numbers": "skipped",
    }, found.to_json()
    assert found.outcome == "passed" and found.exit_code == 0


@pytest.mark.parametrize("seed", [1, 7])
def test_nothing_is_found_with_other_numbers(tmp_path: Path, seed: int) -> None:
    found = checked(write_world(tmp_path), seed=seed)
    assert found.outcome == "passed", found.to_json()
    assert {each.seed for each in found.results} == {seed}


@pytest.mark.parametrize("name", TWINS)
def test_the_component_that_is_broken_is_named_first(name: str, tmp_path: Path) -> None:
    component, check, _, _ = TWINS[name]
    found = checked(write_world(tmp_path, twin(name)))
    first = found.first_failed
    assert first is not None and (first.component, first.check) == (component, check), found.to_json()
    assert found.exit_code == 1 and f"fix the {component} first" in found.sentence


def test_what_depends_on_a_failed_check_waits_for_it(tmp_path: Path) -> None:
    found = checked(write_world(tmp_path, twin("sum instead of mean")))
    waits = {each.check: each.waits_for for each in found.results if each.verdict == "waits"}
    assert waits == dict.fromkeys(("gradients", "step", "curve", "numbers"), "loss")
    assert all(each.words == "waits for loss" for each in found.results if each.verdict == "waits")
    assert verdicts(found)["fixed-weights"] == "passed"  # what does not depend on it is judged


def test_every_check_has_a_component_a_tolerance_and_its_needs_before_it() -> None:
    assert set(COMPONENTS) == set(TOLERANCES) == set(NEEDS) == set(ORDER)
    for check, needs in NEEDS.items():
        assert all(ORDER.index(needed) < ORDER.index(check) for needed in needs), check


def test_a_function_that_is_missing_is_a_check_that_is_skipped(tmp_path: Path) -> None:
    found = checked(write_world(tmp_path, MINE.replace("def metric(", "def unmeasured(")))
    assert verdicts(found)["metric"] == "skipped" and found.outcome == "passed"
    assert "mine.py has no `metric`" in next(each.words for each in found.results if each.check == "metric")


def test_without_an_original_nothing_is_claimed(tmp_path: Path) -> None:
    alone = MANIFEST.replace("original: {code: [original.py]}\n", "")
    found = checked(write_world(tmp_path, manifest=alone))
    told = verdicts(found)
    assert told["loss"] == told["data"] == told["step"] == "undecided" and told["fixed-weights"] == "skipped"
    assert told["metric"] == told["gradients"] == told["serialization"] == "passed"
    assert found.outcome == "undecided" and found.exit_code == 2


def test_what_is_wrong_with_the_original_is_not_blamed_on_mine(tmp_path: Path) -> None:
    broken = ORIGINAL.replace("def loss(outputs, targets):", "def loss(outputs, targets):\n    raise OSError('gone')")
    found = checked(write_world(tmp_path, original=broken), "loss", "metric")
    assert verdicts(found) == {"loss": "undecided", "metric": "passed"}
    assert "the original: `loss` raises OSError: gone (original.py:" in found.results[0].words


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("import os\nos.kill(os.getpid(), 9)\n", "killed by SIGKILL"),
        ("import os\nos._exit(3)\n", "exit code 3"),
        ("def build(:\n    pass\n", "SyntaxError"),
        ("import not_there\n", "not_there"),
        ("raise SystemExit('enough')\n", "SystemExit"),
        ("def build(seed):\n    return None\n", "has no `forward`"),
        ("def build(seed):\n    return {}\ndef forward(model, x):\n    return 'words'\n", "no tensor"),
        ("def build(seed):\n    return build(seed)\ndef forward(model, x):\n    return x\n", "RecursionError"),
    ],
)
def test_code_that_does_not_run_is_a_finding(source: str, words: str, tmp_path: Path) -> None:
    found = checked(write_world(tmp_path, source), "pass-through", "loss")
    assert words in found.results[0].words, found.results[0]
    assert found.results[0].verdict in ("failed", "skipped")


def test_code_that_never_ends_is_stopped_and_the_next_check_runs(tmp_path: Path) -> None:
    endless = MINE.replace("def forward(model, x):\n", "def forward(model, x):\n    while True: pass\n")
    found = checked(write_world(tmp_path, endless), "pass-through", "loss", timeout_s=2.0)
    assert verdicts(found) == {"pass-through": "failed", "loss": "passed"}
    assert "did not end within 2 s" in found.results[0].words


def test_code_runs_only_when_it_is_trusted(tmp_path: Path) -> None:
    path = write_world(tmp_path, f"open({str(tmp_path / 'ran')!r}, 'w').close()\n")
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    with pytest.raises(TrustError, match=r"mine: mine\.py, original: original\.py"):
        check_reproduction(path, ORDER, Conditions(settings, Watcher()))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["../outside.py", "/etc/passwd", "a/../../b.py", "mine.txt", "gone.py"])
def test_code_lies_beside_the_manifest(name: str, tmp_path: Path) -> None:
    path = write_world(tmp_path, manifest=MANIFEST.replace("mine.py", name))
    with pytest.raises(ManifestError, match=r"leaves the manifest's folder|neither a Python file|cannot read gone\.py"):
        checked(path)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "world").mkdir()
    path = write_world(tmp_path / "world")
    (tmp_path / "outside.py").write_text(MINE)
    (tmp_path / "world" / "mine.py").unlink()
    (tmp_path / "world" / "mine.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(ManifestError, match="leads out of the manifest's folder"):
        checked(path)


def test_a_check_is_left_out_with_the_reason(tmp_path: Path) -> None:
    manifest = MANIFEST + "skip: {serialization: the model is never saved}\n"
    found = checked(write_world(tmp_path, twin("bias is not saved"), manifest))
    assert found.outcome == "passed"
    assert [each.words for each in found.results if each.check == "serialization"] == ["the model is never saved"]


def test_a_tolerance_of_the_manifest_counts(tmp_path: Path) -> None:
    manifest = MANIFEST + "tolerances: {data: 0.1}\n"
    found = checked(write_world(tmp_path, twin("another mean"), manifest), "data")
    assert found.outcome == "passed" and found.results[0].tolerance == 0.1


def test_other_files_can_be_imported_and_are_trusted_with_the_first(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("scale = 2\n")
    mine = MINE.replace("- 1) * 2", "- 1) * parts.scale").replace(
        "import numpy as np", "import numpy as np\nimport parts"
    )
    path = write_world(tmp_path, mine, MANIFEST.replace("[mine.py]", "[mine.py, parts.py]"))
    before = checked(path, "data")
    (tmp_path / "parts.py").write_text("scale = 3\n")
    after = checked(path, "data")
    assert (before.outcome, after.outcome) == ("passed", "failed")
    assert before.code_digest != after.code_digest


def test_a_check_that_does_not_exist_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="there is no check `los`"):
        parse_checks("los")
    assert parse_checks("metric, loss") == ("loss", "metric")


def test_the_page_and_junit_escape_what_code_says(tmp_path: Path) -> None:
    mine = MINE.replace("return model.layers(x)[-1]", "raise ValueError('<script>\\x00\\x1b[31m&')")
    found = checked(write_world(tmp_path, mine), "pass-through")
    assert "<script>" not in reproduction_html(found).replace("<style>", "")
    junit = reproduction_junit(found)
    assert "&lt;script&gt;" in junit and "\x00" not in junit and 'failures="1"' in junit
    assert json.dumps(found.to_json())


def test_a_tensor_that_no_memory_holds_is_not_drawn(tmp_path: Path) -> None:
    manifest = MANIFEST.replace("shape: [3, 3, 3]", "shape: [1048576, 1048576, 8]")
    (found,) = checked(write_world(tmp_path, manifest=manifest), "pass-through").results
    assert found.verdict == "undecided" and "are not drawn" in found.words


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("tolerances", "{data: .nan}", "tolerances"),
        ("tolerances", "{data: -1}", "tolerances"),
        ("tolerances", "{dta: 1}", "dta"),
        ("samples", "[../../etc/passwd]", "leaves the manifest's folder"),
        ("seed", "-1", "seed"),
        ("batch_size", "1", "batch_size"),
    ],
)
def test_what_a_manifest_may_not_hold(key: str, value: str, words: str, tmp_path: Path) -> None:
    manifest = "\n".join(line for line in MANIFEST.splitlines() if not line.startswith(f"{key}:"))
    with pytest.raises(ManifestError, match=words):
        checked(write_world(tmp_path, manifest=f"{manifest}\n{key}: {value}\n"))


def test_two_runs_at_once_each_leave_a_row(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "cache")
    found = checked(write_world(tmp_path), "metric")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: keep(settings, found), range(8)))
    kept = runs_of(settings, found.name)
    assert len(kept) == 8 and {each.outcome for each in kept} == {"passed"}


def test_samples_are_files_beside_the_manifest(tmp_path: Path) -> None:
    read = "\ndef read(path, random):\n    return np.loadtxt(path)\n\n\ndata = [read]\n"
    (tmp_path / "one.txt").write_text("1 2 3\n")
    manifest = MANIFEST + "samples: [one.txt]\n"
    found = checked(write_world(tmp_path, MINE + read, manifest, ORIGINAL + read), "data")
    assert found.outcome == "passed" and "1 steps of 1 samples" in found.results[0].words
    other = read.replace("np.loadtxt(path)", "np.loadtxt(path) + 1")
    found = checked(write_world(tmp_path, MINE + other, manifest, ORIGINAL + read), "data")
    assert "`read` is the first that differs: for one.txt" in found.results[0].words


def test_two_mistakes_in_unrelated_components_are_both_named(tmp_path: Path) -> None:
    _, _, right, wrong = TWINS["label smoothing"]
    both = twin("channels swapped").replace(right, wrong)
    found = checked(write_world(tmp_path, both))
    assert [each.check for each in found.results if each.verdict == "failed"] == ["data", "loss"]
    waits = {each.check: each.waits_for for each in found.results if each.verdict == "waits"}
    assert waits == {"samples": "data", "gradients": "loss", "step": "loss", "curve": "data", "numbers": "data"}
