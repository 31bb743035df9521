"""The command as people and programs use it: what it prints, where, and how it ends."""

import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

LISTING = (Path(__file__).parent.parent / "manifest" / "listing1.yml").read_text()

MODEL = """
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs:
  - type: image
    processing: {decode: , resize: {dimensions: [8, 8]}, mean: 127.5, rescale: 127.5, layout: NCHW}
outputs: [{type: logits, processing: [softmax]}]
source: {graph_path: toy.json}
claims: [{metric: top1, value: 75.1, dataset: imagenet-val}]
"""
DATASET = """
name: pictures
version: 1.0.0
task: classification
format: folder
sources: [{url: pictures}]
"""

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def place(tmp_path: Path, make_pictures: Callable[..., Path]) -> Path:
    """A folder with a model, a dataset and nothing else."""
    make_pictures(12)
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (tmp_path / "toy.yml").write_text(MODEL)
    (tmp_path / "pictures.yml").write_text(DATASET)
    return tmp_path


@pytest.fixture
def environment(place: Path) -> dict[str, str]:
    return {
        **os.environ,
        "MLMODELSCOPE_HOME": str(place / "home"),
        "MLMODELSCOPE_CACHE": str(place / "cache"),
        "PYTHONUNBUFFERED": "1",
    }


@pytest.fixture
def run(place: Path, environment: dict[str, str]) -> Run:
    def call(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mlmodelscope", *words]
        return subprocess.run(
            command, cwd=place, env=environment, capture_output=True, text=True, check=False, **options
        )

    return call


def test_the_version_is_told(run: Run) -> None:
    assert re.fullmatch(r"mlmodelscope \d+\.\d+\.\d+\n", run("--version").stdout)


def test_help_lists_every_verb_and_the_exit_codes(run: Run) -> None:
    text = run("--help").stdout
    for verb in ("check", "predict", "evaluate", "records", "report", "models", "datasets", "doctor", "schema", "plan"):
        assert verb in text
    assert "Exit codes" in text


def test_an_evaluation_prints_the_numbers_and_what_they_can_say(run: Run) -> None:
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 0 and done.stderr == ""
    assert "top-1" in done.stdout and "95 % between" in done.stdout and "latency" in done.stdout
    assert "75.1" in done.stdout


def test_every_verb_speaks_json(run: Run, place: Path) -> None:
    picture = str(next((place / "pictures").rglob("*.png")))
    record = json.loads(run("evaluate", "toy.yml", "pictures.yml", "--json").stdout)
    assert record["samples"] == 12
    calls = [
        ("models", "--json"),
        ("models", "efficientnet-lite0", "--json"),
        ("datasets", "--json"),
        ("datasets", "imagenet-70", "--json"),
        ("check", "toy.yml", "--json"),
        ("schema", "model"),
        ("schema", "dataset", "--json"),
        ("schema", "plan"),
        ("schema", "record"),
        ("plan", "toy.yml", "pictures.yml"),
        ("predict", "toy.yml", picture, "--json"),
        ("records", "--json"),
        ("records", "list", "--json"),
        ("records", "show", "latest", "--json"),
        ("records", "show", "latest", "--wrong", "--json"),
        ("records", "export", "latest", "--json"),
        ("report", "latest", "--json"),
        ("doctor", "--offline", "--json"),
        ("records", "delete", record["id"], "--yes", "--json"),
    ]
    for words in calls:
        done = run(*words)
        assert done.returncode == 0, (words, done.stderr)
        json.loads(done.stdout)


@pytest.mark.parametrize("form", ["html", "md", "json", "csv"])
def test_reports_come_in_every_form(run: Run, place: Path, form: str) -> None:
    run("evaluate", "toy.yml", "pictures.yml")
    done = run("report", "latest", "--format", form, "--output", f"out/report.{form}")
    assert done.returncode == 0, done.stderr
    assert (place / "out" / f"report.{form}").stat().st_size > 100
    assert (
        run("report", "latest", "--format", form, "--output", "-").stdout
        == (place / "out" / f"report.{form}").read_text()
    )


def test_records_can_be_listed_shown_exported_and_deleted(run: Run, place: Path) -> None:
    assert "no records yet" in run("records").stdout
    run("evaluate", "toy.yml", "pictures.yml")
    listed = run("records").stdout
    assert "toy@1.0.0" in listed and "finished" in listed
    assert "taken for" in run("records", "show", "latest", "--wrong").stdout
    assert "wrote record.zip" in run("records", "export", "latest", "-o", "record.zip").stdout
    refused = run("records", "delete", "latest", stdin=subprocess.DEVNULL)
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert run("records", "delete", "latest", "--yes").returncode == 0
    assert "no records yet" in run("records").stdout


def test_check_says_what_is_wrong_and_fails(run: Run, place: Path) -> None:
    (place / "bad.yml").write_text(LISTING.replace("resize:", "resise:"))
    done = run("check", "toy.yml", "bad.yml")
    assert done.returncode == 1
    assert "toy.yml: right" in done.stdout
    assert "bad.yml:30:7" in done.stderr and "did you mean `resize`?" in done.stderr and "Traceback" not in done.stderr


def test_check_takes_folders_and_standard_input(run: Run) -> None:
    assert run("check", ".").returncode == 0
    assert run("check", "-", input=LISTING).returncode == 0
    assert run("check", "-", input="name: [").returncode == 1
    assert "there is no .yml" in run("check", "pictures").stderr


def test_a_failed_sample_shows_in_the_exit_code(run: Run, place: Path) -> None:
    next((place / "pictures").rglob("*.png")).write_bytes(b"broken")
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 3
    assert "1 failed" in done.stdout and "failed:" in done.stdout


def test_predict_fails_when_an_image_does(run: Run) -> None:
    done = run("predict", "toy.yml", "toy.yml")
    assert done.returncode == 1 and "failed:" in done.stdout


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (("evaluate", "efficientnet-lite9", "imagenet-70"), 2, "did you mean `efficientnet-lite"),
        (("evaluate", "efficientnet-lite0@^9", "imagenet-70"), 2, "no version of efficientnet-lite0 satisfies ^9"),
        (("evaluate", "toy.yml", "toy.yml"), 2, "is a model manifest, not a dataset manifest"),
        (("evaluate", "none.yml", "pictures.yml"), 1, "there is no such file"),
        (("evaluate", "toy.yml", "pictures.yml", "--batch-size", "0"), 2, "--batch-size"),
        (("evaluate", "toy.yml", "pictures.yml", "--option", "speed"), 2, "KEY=VALUE"),
        (("evaluate", "toy.yml", "pictures.yml", "--option", "speed=1"), 2, "unknown parameter `speed`"),
        (("evaluate", "toy.yml", "pictures.yml", "--device", "cuda"), 2, "option `device` of fake: unknown parameter"),
        (("evaluate", "toy.yml", "--device", "cuda", "--option", "device=cpu"), 2, "--device says cuda, --option says"),
        (("predict", "toy.yml", "none.jpg"), 1, "there is no file"),
        (("records", "show", "nothing"), 2, "there is no record `nothing`"),
        (("report", "latest"), 2, "mlmodelscope evaluate makes one"),
        (("check", "none.yml"), 1, "No such file"),
        (("frobnicate",), 2, "No such command"),
    ],
)
def test_every_foreseen_error_has_a_message_and_an_exit_code(
    run: Run, words: tuple[str, ...], code: int, message: str
) -> None:
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_is_json_when_json_was_asked_for(run: Run) -> None:
    done = run("evaluate", "none", "pictures.yml", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "UsageError"


def test_a_folder_that_may_not_be_written_is_said_plainly(run: Run, environment: dict[str, str]) -> None:
    environment["MLMODELSCOPE_HOME"] = "/proc/nowhere"
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 1 and "MLMODELSCOPE_HOME" in done.stderr and "Traceback" not in done.stderr


def test_offline_says_what_would_be_needed(run: Run) -> None:
    done = run("evaluate", "efficientnet-lite0", "imagenet-70", "--offline")
    assert done.returncode == 1
    assert "the network may not be used" in done.stderr and "MLMODELSCOPE_MIRROR" in done.stderr


def test_output_into_a_closed_pipe_is_no_error(place: Path, environment: dict[str, str]) -> None:
    command = f"{shlex.quote(sys.executable)} -m mlmodelscope schema record | head -c 10"
    done = subprocess.run(
        ["sh", "-c", command], cwd=place, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.fixture
def small_disk(place: Path) -> Iterator[Path]:
    disk = place / "disk"
    disk.mkdir()
    if shutil.which("mount") is None:
        pytest.skip("there is no mount to make a small disk with")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=800k", "tmpfs", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("this machine lets nobody mount a small disk")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def test_a_full_disk_is_said_plainly_and_loses_nothing(
    run: Run, place: Path, environment: dict[str, str], small_disk: Path
) -> None:
    environment["MLMODELSCOPE_HOME"] = str(small_disk / "home")
    assert run("records").returncode == 0
    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - 40_000))
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 1, done.stdout
    assert ("no space left" in done.stderr or "full" in done.stderr) and "Traceback" not in done.stderr
    (small_disk / "filler").unlink()
    again = run("evaluate", "toy.yml", "pictures.yml", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["samples"] == 12


def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(
    place: Path, environment: dict[str, str], make_pictures: Any
) -> None:
    """In a real terminal, as a person would."""
    make_pictures(400)
    command = [sys.executable, "-m", "mlmodelscope", "evaluate", "toy.yml", "pictures.yml"]
    master, terminal = pty.openpty()
    process = subprocess.Popen(
        command, cwd=place, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    )
    os.close(terminal)
    journal_seen = False
    while process.poll() is None and not journal_seen:
        journal_seen = any(path.stat().st_size > 2000 for path in (place / "home").rglob("journal"))
        time.sleep(0.001)
    os.killpg(process.pid, signal.SIGINT)
    drain(master)
    code = process.wait()
    if not journal_seen:
        pytest.skip("the evaluation was over before it could be interrupted")
    assert code in (0, 130)
    done = subprocess.run(command + ["--json"], cwd=place, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert json.loads(done.stdout)["samples"] == 400
    if code == 130:
        assert "resuming" in done.stderr


def drain(master: int) -> None:
    """Read a terminal to its end, so that nobody waits for a full buffer."""
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        pass  # how Linux says that the other end is closed


def test_both_names_of_the_command_are_installed() -> None:
    from importlib.metadata import entry_points

    names = {
        entry.name for entry in entry_points(group="console_scripts") if entry.value == "mlmodelscope.__main__:main"
    }
    assert names == {"mlmodelscope", "mlms"}


def test_the_core_install_is_light() -> None:
    """At most 20 packages, and no framework among them."""
    from importlib.metadata import PackageNotFoundError, distribution

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        try:
            requirements = distribution(name).requires or ()
        except PackageNotFoundError:
            return  # for another platform or an older Python
        seen.add(name)
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                visit(canonicalize_name(requirement.name))

    visit("mlmodelscope")
    assert len(seen) <= 20, sorted(seen)
    assert not seen & {"numpy", "onnxruntime", "torch", "tensorflow", "pillow"}
