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
from collections.abc import Iterator
from pathlib import Path

import pytest

from .command import Run
from .toy import write_toy

LISTING = (Path(__file__).parent.parent / "manifest" / "listing1.yml").read_text()


@pytest.fixture
def process(tmp_path: Path, environment: dict[str, str]) -> Run:
    """The command in a process of its own, as it is installed."""

    def call(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mlmodelscope", *words]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return call


def test_the_version_is_told(process: Run) -> None:
    assert re.fullmatch(r"mlmodelscope \d+\.\d+\.\d+\n", process("--version").stdout)


def test_help_lists_every_verb_and_the_exit_codes(run: Run) -> None:
    text = run("--help").stdout
    for verb in ("check", "predict", "evaluate", "records", "report", "models", "datasets", "doctor", "schema", "plan"):
        assert verb in text
    assert "Exit codes" in text


def test_an_evaluation_prints_the_numbers_and_what_they_can_say(process: Run, toy: Path) -> None:
    done = process("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 0 and done.stderr == ""
    assert "top-1" in done.stdout and "95 % between" in done.stdout and "latency" in done.stdout
    assert "75.1" in done.stdout


def test_every_verb_speaks_json(run: Run, evaluated: Path) -> None:
    picture = str(next((evaluated / "pictures").rglob("*.png")))
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
def test_reports_come_in_every_form(run: Run, evaluated: Path, form: str) -> None:
    done = run("report", "latest", "--format", form, "--output", f"out/report.{form}")
    assert done.returncode == 0, done.stderr
    written = (evaluated / "out" / f"report.{form}").read_text()
    assert len(written) > 100
    assert run("report", "latest", "--format", form, "--output", "-").stdout == written


def test_records_can_be_listed_shown_exported_and_deleted(run: Run, evaluated: Path) -> None:
    listed = run("records").stdout
    assert "toy@1.0.0" in listed and "finished" in listed
    assert "taken for" in run("records", "show", "latest", "--wrong").stdout
    assert "wrote record.zip" in run("records", "export", "latest", "-o", "record.zip").stdout
    refused = run("records", "delete", "latest")
    assert refused.returncode == 2 and "--yes" in refused.stderr
    assert run("records", "delete", "latest", "--yes").returncode == 0
    assert "no records yet" in run("records").stdout


def test_an_answer_from_the_store_says_so_and_is_the_latest(run: Run, evaluated: Path) -> None:
    few = ("sensitivity", "toy.yml", "pictures.yml", "--limit", "4", "--pitfall", "color-layout", "--json")
    assert run(*few).returncode == 0
    again = run("evaluate", "toy.yml", "pictures.yml", "--json")
    record = json.loads(again.stdout)
    assert f"answered from the store: record {record['id']}, measured on" in again.stderr
    assert "--again measures it again" in again.stderr
    assert json.loads(run("records", "show", "latest", "--json").stdout)["id"] == record["id"]
    listed = run("records").stdout
    assert "evaluation, for sensitivity" in listed and record["created_at"][:16].replace("T", " ") in listed
    assert "answered from" not in run("evaluate", "toy.yml", "pictures.yml", "--again").stderr


def test_check_says_what_is_wrong_and_fails(process: Run, toy: Path) -> None:
    (toy / "bad.yml").write_text(LISTING.replace("resize:", "resise:"))
    done = process("check", "toy.yml", "bad.yml")
    assert done.returncode == 1
    assert "toy.yml: OK" in done.stdout
    assert "bad.yml:30:7" in done.stderr and "did you mean `resize`?" in done.stderr and "Traceback" not in done.stderr


def test_check_takes_folders_and_standard_input(run: Run, toy: Path) -> None:
    assert run("check", ".").returncode == 0
    assert run("check", "-", input=LISTING).returncode == 0
    assert run("check", "-", input="name: [").returncode == 1
    assert "there is no .yml" in run("check", "pictures").stderr


def test_a_failed_sample_shows_in_the_exit_code(process: Run, toy: Path) -> None:
    next((toy / "pictures").rglob("*.png")).write_bytes(b"broken")
    done = process("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 3
    assert "1 failed" in done.stdout and "failed:" in done.stdout


def test_predict_fails_when_an_image_does(run: Run, toy: Path) -> None:
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
    run: Run, toy: Path, words: tuple[str, ...], code: int, message: str
) -> None:
    done = run(*words)
    assert done.returncode == code
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_shows_in_the_exit_code(process: Run) -> None:
    done = process("records", "show", "nothing")
    assert done.returncode == 2 and done.stderr.startswith("error: there is no record `nothing`")


def test_an_error_is_json_when_json_was_asked_for(run: Run, toy: Path) -> None:
    done = run("evaluate", "none", "pictures.yml", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["kind"] == "UsageError"


def test_a_folder_that_may_not_be_written_is_said_plainly(run: Run, toy: Path, environment: dict[str, str]) -> None:
    environment["MLMODELSCOPE_HOME"] = "/proc/nowhere"
    done = run("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 1 and "MLMODELSCOPE_HOME" in done.stderr and "Traceback" not in done.stderr


def test_offline_says_what_would_be_needed(run: Run) -> None:
    done = run("evaluate", "efficientnet-lite0", "imagenet-70", "--offline")
    assert done.returncode == 1
    assert "the network may not be used" in done.stderr and "MLMODELSCOPE_MIRROR" in done.stderr


def test_output_into_a_closed_pipe_is_no_error(tmp_path: Path, environment: dict[str, str]) -> None:
    command = f"{shlex.quote(sys.executable)} -m mlmodelscope schema record | head -c 10"
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and "Traceback" not in done.stderr


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
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
    process: Run, run: Run, toy: Path, environment: dict[str, str], small_disk: Path
) -> None:
    environment["MLMODELSCOPE_HOME"] = str(small_disk / "home")
    assert run("records").returncode == 0
    free = os.statvfs(small_disk)
    (small_disk / "filler").write_bytes(b"x" * max(0, free.f_bavail * free.f_frsize - 40_000))
    done = process("evaluate", "toy.yml", "pictures.yml")
    assert done.returncode == 1, done.stdout
    assert ("no space left" in done.stderr or "full" in done.stderr) and "Traceback" not in done.stderr
    (small_disk / "filler").unlink()
    again = run("evaluate", "toy.yml", "pictures.yml", "--json")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["samples"] == 12


def test_ctrl_c_ends_with_130_and_the_same_command_goes_on(
    process: Run, tmp_path: Path, environment: dict[str, str]
) -> None:
    """In a real terminal, as a person would."""
    write_toy(tmp_path, 100, sleep_s=0.01)
    command = [sys.executable, "-m", "mlmodelscope", "evaluate", "toy.yml", "pictures.yml"]
    master, terminal = pty.openpty()
    running = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True
    )
    os.close(terminal)
    while running.poll() is None and not any(
        path.stat().st_size > 2000 for path in (tmp_path / "home").rglob("journal")
    ):
        time.sleep(0.001)
    os.killpg(running.pid, signal.SIGINT)
    drain(master)
    code = running.wait()
    assert code in (0, 130)  # where this test was not given a core in time, nothing was left to interrupt
    done = process("evaluate", "toy.yml", "pictures.yml", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["samples"] == 100
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
    """At most 21 packages, and no framework among them."""
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
    assert len(seen) <= 21, sorted(seen)
    assert not seen & {"numpy", "onnxruntime", "torch", "tensorflow", "pillow"}


def test_a_healthy_machine_reads_healthy(run: Run) -> None:
    done = run("doctor", "--offline")
    assert done.returncode == 0 and "This machine is ready." in done.stdout
    assert "missing" not in done.stdout and "built when a model needs them" in done.stdout
    assert "framework transformers" not in done.stdout  # a stack of another framework has the package


def test_every_command_that_doctor_names_exists(run: Run) -> None:
    fixes = [each["fix"] for each in json.loads(run("doctor", "--offline", "--json").stdout) if each["fix"]]
    assert any("mlmodelscope stacks build" in fix for fix in fixes) and run("stacks", "build", "--help").returncode == 0
    assert not [fix for fix in fixes if "mlmodelscope[" in fix]


@pytest.mark.parametrize("verb", [("evaluate",), ("bench", "--budget", "0.2", "--processes", "1")])
def test_a_container_that_was_not_used_is_noted(run: Run, toy: Path, verb: tuple[str, ...]) -> None:
    image = {"any": {"cpu": "somebody/image:1"}}
    software = {"name": "boxed", "version": "1.0.0", "framework": {"name": "fake"}, "container": image}
    (toy / "boxed.yml").write_text(json.dumps(software))
    done = run(verb[0], "toy.yml", "pictures.yml", *verb[1:], "--software", "boxed.yml", "--json")
    (note,) = [each for each in json.loads(done.stdout)["notes"] if "container" in each]
    assert (
        note == "boxed@1.0.0 names the container image somebody/image:1; this Python satisfies it and was used instead"
    )
