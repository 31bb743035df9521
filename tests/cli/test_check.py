"""`mlmodelscope check` as people, editors and code hosts use it."""

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from mlmodelscope.cli.main import app

SWAPPED = """\
name: toy
version: 1.0 # ours
task: classification
framework: {name: mxnet, version: 1.4.0}
license: MIT
container:
  amd64:
    cpu: example/mxnet:gpu
    gpu: example/mxnet:cpu
inputs: [{type: image, processing: {decode: , layout: NCHW}}]
outputs: [{type: probability}]
source: {graph_path: https://example.org/x.json, graph_checksum: 4d234b5833aca44928065a180db3016a}
"""
RIGHT = """\
name: pictures
version: 1.0.0
license: MIT
references: [https://example.org]
format: folder
sources: [{url: pictures, checksum: 4d234b5833aca44928065a180db3016a}]
size: 3
"""
CODE = """\
name: carrier
version: 1.0.0
license: MIT
task: general
framework: {name: pytorch}
run: |
  def run(ctx, data):
    return eval(data)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    (tmp_path / "swapped.yml").write_text(SWAPPED)
    (tmp_path / "right.yaml").write_text(RIGHT)
    return tmp_path


def check(*words: str, text: str | None = None) -> Result:
    done = CliRunner().invoke(app, ["check", *words], input=text)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


def test_each_finding_has_its_place_code_and_severity(place: Path) -> None:
    done = check("swapped.yml")
    assert done.exit_code == 0
    assert "swapped.yml: OK, 2 warnings" in done.stdout
    assert "swapped.yml:7:3  M020 warning  the images for cpu and gpu are swapped under `amd64`" in done.stdout
    assert "1 manifest: 0 errors, 2 warnings, 5 infos (5 not shown: --verbose)" in done.stdout
    assert "not shown" not in check("swapped.yml", "--verbose").stdout


def test_what_is_only_good_to_know_is_counted_and_shown_when_asked(place: Path) -> None:
    assert "M042" not in check("swapped.yml").stdout
    assert "M042 info" in check("swapped.yml", "--verbose").stdout
    assert "M042 info" in check("swapped.yml", "--select", "weak-checksum").stdout


def test_code_is_never_small_print(place: Path) -> None:
    (place / "code.yml").write_text(CODE)
    done = check("code.yml")
    assert "M110 info  this manifest runs Python code: run (line 7, 2 lines)" in done.stdout
    assert "`eval()`" in done.stdout and "sha256:" in done.stdout


def test_packages_and_variables_that_need_trust_are_told_in_advance(place: Path) -> None:
    software = "name: theirs\nversion: 1.0.0\nframework: {name: onnxruntime}\n"
    (place / "packages.yml").write_text(software + "stack: {requirements: [some-wheel==1.0]}\n")
    (place / "variables.yml").write_text(software + "env: {OMP_NUM_THREADS: '4', LD_PRELOAD: /opt/faster.so}\n")
    packages, variables = check("packages.yml").stdout, check("variables.yml").stdout
    assert "packages.yml:4:1  M113 info  `stack` of this manifest needs trust: `some-wheel==1.0`" in packages
    assert "`env` of this manifest needs trust: `LD_PRELOAD=/opt/faster.so`" in variables
    assert "OMP_NUM_THREADS" not in variables and "sha256:" in variables


def test_a_manifest_cannot_command_the_terminal(place: Path) -> None:
    (place / "odd.yml").write_text(SWAPPED.replace("example/mxnet:gpu", '"mxnet:gpu\\e[31m\\n::error::x"'))
    done = check("odd.yml", "--verbose")
    assert "\x1b" not in done.stdout and "\n::error" not in done.stdout and "\\x1b[31m" in done.stdout


def test_strict_fails_on_warnings(place: Path) -> None:
    assert check("swapped.yml", "--strict").exit_code == 1
    assert check("right.yaml", "--strict").exit_code == 0


def test_rules_are_selected_and_ignored_by_code_beginning_and_name(place: Path) -> None:
    assert check("swapped.yml", "--strict", "--ignore", "M02,version-is-a-number").exit_code == 0
    assert check("swapped.yml", "--strict", "--select", "M042").exit_code == 0
    assert check("swapped.yml", "--strict", "--select", "m020").exit_code == 1


@pytest.mark.parametrize("words", [("--select", "X1"), ("--ignore", ""), ("--explain", "M999"), ("--format", "xml")])
def test_an_unknown_code_is_wrong_usage(place: Path, words: tuple[str, ...]) -> None:
    assert check("swapped.yml", *words).exit_code == 2


def test_nothing_to_check_is_wrong_usage(place: Path) -> None:
    assert check().exit_code == 2
    assert check("*.nothing").exit_code == 2


def test_a_rule_is_explained() -> None:
    done = check("--explain", "M020")
    assert done.exit_code == 0 and "## M020 swapped-images" in done.stdout and "Right:" in done.stdout
    assert check("--explain", "all").stdout.count("\n## ") > 30


def test_fixing_writes_the_file_and_says_what_it_did(place: Path) -> None:
    os.chmod("swapped.yml", 0o600)
    done = check("swapped.yml", "right.yaml", "--fix")
    assert done.exit_code == 0 and "2 fixed" in done.stdout and "M020 fixed" in done.stdout
    text = (place / "swapped.yml").read_text()
    assert "version: '1.0' # ours" in text and "cpu: example/mxnet:cpu" in text
    assert (place / "swapped.yml").stat().st_mode & 0o777 == 0o600
    assert (place / "right.yaml").read_text() == RIGHT
    assert "fixed" not in check("swapped.yml", "--fix").stdout


def test_a_diff_shows_and_does_not_write(place: Path) -> None:
    done = check("swapped.yml", "--diff")
    assert "-version: 1.0 # ours" in done.stdout and "+version: '1.0' # ours" in done.stdout
    assert (place / "swapped.yml").read_text() == SWAPPED
    assert check("swapped.yml", "--fix", "--diff").exit_code == 0
    assert (place / "swapped.yml").read_text() == SWAPPED


def test_a_diff_of_a_wrong_file_still_fails(place: Path) -> None:
    (place / "wrong.yml").write_text(SWAPPED.replace("license:", "licnse:"))
    assert check("wrong.yml", "--diff").exit_code == 1
    assert check("wrong.yml", "--fix").exit_code == 0


def test_standard_input_is_mended_to_standard_output(place: Path) -> None:
    done = check("-", "--fix", text=SWAPPED)
    assert done.exit_code == 0 and done.stdout.startswith("name: toy\nversion: '1.0' # ours\n")
    assert done.stdout.endswith("}\n") and "2 fixed" in done.stderr


def test_only_selected_rules_are_mended(place: Path) -> None:
    check("swapped.yml", "--fix", "--select", "M030")
    assert (place / "swapped.yml").read_text() == SWAPPED.replace("1.0 #", "'1.0' #")


def test_folders_and_globs_skip_what_is_no_manifest(place: Path) -> None:
    (place / "compose.yml").write_text("name: x\nservices: {web: {image: y}}\n")
    (place / "workflow.yml").write_text("name: CI\non: push\nenv: {A: b}\njobs: {}\n")
    (place / "list.yml").write_text("- a\n- b\n")
    (place / ".hidden").mkdir()
    (place / ".hidden" / "x.yml").write_text("name: [")
    for words in ((".",), ("*.y*ml",), ("**/*.y*ml", ".")):
        done = check(*words)
        assert done.exit_code == 0, done.output
        assert "2 manifests" in done.stdout and "3 files skipped" in done.stdout and "compose" not in done.stdout
    assert "compose.yml: skipped, not a manifest" in check(".", "--verbose").stdout
    assert check("compose.yml").exit_code == 1
    assert check("list.yml").exit_code == 1


def test_a_file_that_cannot_be_read_is_never_skipped(place: Path) -> None:
    (place / "broken.yml").write_text("services: [")
    done = check(".")
    assert done.exit_code == 1 and "broken.yml:2:1" in done.stderr and "M000 error" in done.stderr


def test_a_manifest_with_a_misspelt_name_is_not_skipped(place: Path) -> None:
    (place / "nameless.yml").write_text(SWAPPED.replace("name: toy", "nmae: toy"))
    done = check(".")
    assert done.exit_code == 1 and "nameless.yml:1:1  M001 error  unknown key `nmae`" in done.stderr


def test_a_missing_file_is_told_beside_the_others(place: Path) -> None:
    done = check("none.yml", "right.yaml")
    assert done.exit_code == 1 and "No such file" in done.stderr and "right.yaml: OK" in done.stdout


@pytest.mark.parametrize(
    ("url", "include", "said"),
    [
        ("pictures/*.JPEG", "*", "`include: '*.JPEG'` at the top level"),
        ("pictures", "*.webp", "has a name like `*.webp`"),
        ("gone", "*", "there is no file"),
        ("pictures", "*.png", ""),
    ],
)
def test_paths_and_patterns_that_lead_nowhere_are_found(place: Path, url: str, include: str, said: str) -> None:
    (place / "pictures" / "cat").mkdir(parents=True)
    (place / "pictures" / "cat" / "1.png").write_bytes(b"")
    (place / "data.yml").write_text(
        f"name: data\nversion: 1.0.0\nformat: folder\ninclude: '{include}'\nsources: [{{url: '{url}'}}]\nsize: 1\n"
    )
    done = check("data.yml", "--verbose")
    assert ("M076" in done.output) == bool(said) and said in " ".join(done.output.split()), done.output


def test_json_has_findings_and_problems(place: Path) -> None:
    (place / "wrong.yml").write_text(SWAPPED.replace("license:", "licnse:"))
    done = check("wrong.yml", "swapped.yml", "--json")
    wrong, swapped = json.loads(done.stdout)
    assert done.exit_code == 1 and wrong["problems"][0]["line"] == 5
    assert [each["fix"][0]["text"] for each in wrong["findings"] if each["code"] == "M001"] == ["license"]
    assert {each["code"] for each in swapped["findings"]} >= {"M020", "M030", "M042"}


def test_sarif_and_annotations_are_printed(place: Path) -> None:
    log = json.loads(check("swapped.yml", "--format", "sarif").stdout)
    assert log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "swapped.yml"
    lines = check("swapped.yml", "--format", "github").stdout.splitlines()
    assert any(line.startswith("::warning file=swapped.yml,line=7,col=3,title=M020::") for line in lines)


def test_the_pre_commit_hooks_call_this_verb() -> None:
    import yaml

    hooks = yaml.safe_load((Path(__file__).parent.parent.parent / ".pre-commit-hooks.yaml").read_text())
    for hook in hooks:
        assert hook["entry"].startswith("mlmodelscope check") and hook["language"] == "python"


def test_a_rule_answers_to_the_name_it_had_before(place: Path) -> None:
    for name in ("no-license", "no-licence"):
        done = check("swapped.yml", "--select", name)
        assert done.exit_code == 0 and "no rule" not in done.output, done.output


def test_json_keeps_the_former_name_of_fixes(place: Path) -> None:
    (result,) = json.loads(check("swapped.yml", "--fix", "--json").stdout)
    assert result["fixed"] and result["mended"] == result["fixed"]
