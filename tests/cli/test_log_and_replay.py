"""`log` and `replay` as people and programs use them."""

import json
import shutil
from pathlib import Path

import pytest

from small_world import Once

from .command import Run, command_in

MODEL = """name: coded
version: 1.0.0
task: general
run: |
  def run(ctx, data):
      return data
postprocess: |
  def postprocess(ctx, data):
      return [{"[red]": open(p).read()} for p in data["data"]]
"""
DATA = "name: texts\nversion: 1.0.0\nformat: files\nsources: [{url: texts}]\n"


def write_manifests(folder: Path) -> None:
    (folder / "my" / "texts").mkdir(parents=True)
    for name in ("a[1]", "[bold]b"):
        (folder / "my" / "texts" / name).write_text(name)
    (folder / "my" / "coded.yml").write_text(MODEL)
    (folder / "my" / "texts.yml").write_text(DATA)


@pytest.fixture
def log(once: Once, tmp_path: Path, environment: dict[str, str]) -> str:
    """An evaluation and its log, made once; the manifests lie where each test may change them."""

    def make(place: Path) -> None:
        write_manifests(place)
        run = command_in(place, MLMODELSCOPE_MANIFESTS=str(place / "my"))
        assert run("evaluate", "coded", "texts", "--trust").returncode == 0
        done = run("log", "latest", "-o", "a.log.yml", "--name", "mine", "--json")
        assert json.loads(done.stdout)["files"] == ["a.log.yml"]

    shutil.copytree(once("cli-log", make), tmp_path, dirs_exist_ok=True)
    environment["MLMODELSCOPE_MANIFESTS"] = str(tmp_path / "my")
    return "a.log.yml"


def test_a_replay_of_the_same_says_so(run: Run, log: str) -> None:
    done = run("replay", log, "--trust")
    assert done.returncode == 0
    assert "2 of 2 expected answers came out again" in done.stdout and "nothing differs" in done.stdout


def test_a_replay_needs_trust_like_everything_else(run: Run, log: str) -> None:
    done = run("replay", log)
    assert done.returncode == 1 and "that is not trusted" in done.stderr


def test_what_differs_is_shown_whatever_it_looks_like(run: Run, log: str, tmp_path: Path) -> None:
    (tmp_path / "my" / "coded.yml").write_text(MODEL.replace('"[red]"', '"[/red]"'))
    done = run("replay", log, "--trust")
    assert done.returncode == 1 and "0 of 2 expected answers came out again" in done.stdout
    assert "[bold]b" in done.stdout and "{'[/red]': 'a[1]'}" in done.stdout and "content" in done.stdout


def test_programs_get_json(run: Run, log: str, tmp_path: Path) -> None:
    (tmp_path / "my" / "coded.yml").write_text(MODEL.replace('"[red]"', '"x"'))
    done = run("replay", log, "--trust", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1 and found["same"] is False and found["compared"] == 2 and found["agreeing"] == 0
    assert {item["aspect"] for item in found["items"]} == {"model", "plan", "sample"}


def test_another_model_can_be_named(run: Run, log: str, tmp_path: Path) -> None:
    (tmp_path / "rival.yml").write_text(MODEL.replace("name: coded", "name: rival"))
    done = run("replay", log, "--trust", "--model", "rival.yml")
    assert done.returncode == 0 and "coded@1.0.0" in done.stdout and "rival@1.0.0" in done.stdout


def test_a_log_is_found_by_name_in_the_users_folder(run: Run, log: str, tmp_path: Path) -> None:
    (tmp_path / log).rename(tmp_path / "my" / log)
    assert run("replay", "mine", "--trust").returncode == 0


@pytest.mark.parametrize("there", ["a.log.yml", "a.log.outputs.csv"])
def test_nothing_is_overwritten_unless_forced(run: Run, log: str, tmp_path: Path, there: str) -> None:
    (tmp_path / "a.log.yml").unlink()
    (tmp_path / there).write_text("precious")
    done = run("log", "latest", "-o", "a.log.yml")
    assert done.returncode == 2 and f"{there} is there already" in done.stderr
    assert (tmp_path / there).read_text() == "precious"
    assert run("log", "latest", "-o", "a.log.yml", "--force").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("log", "20990101"), 2, "there is no record `20990101`"),
        (("log", "latest", "--name", "a b"), 1, "a name has letters"),
        (("log", "latest", "-o", "nowhere/a.yml"), 1, "cannot write nowhere/a.yml"),
        (("replay", "nothing.yml"), 1, "there is no such file"),
        (("replay", "nothing"), 2, "there is no reference log `nothing`"),
        (("replay", "my/coded.yml"), 2, "is a model manifest, not a reference log"),
    ],
)
def test_a_wrong_request_says_why(run: Run, log: str, words: tuple[str, ...], code: int, reason: str) -> None:
    done = run(*words)
    assert done.returncode == code and reason in done.stderr and "Traceback" not in done.stderr


def test_a_log_whose_manifest_is_gone_says_what_to_do(run: Run, log: str, tmp_path: Path) -> None:
    (tmp_path / "my" / "coded.yml").rename(tmp_path / "elsewhere.yml")
    done = run("replay", log, "--trust")
    assert done.returncode == 2 and "was made with the model coded@1.0.0, which is not here" in done.stderr
    assert "--model FILE" in done.stderr
    assert run("replay", log, "--trust", "--model", "elsewhere.yml").returncode == 0
