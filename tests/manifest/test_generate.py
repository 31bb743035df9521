"""`files`, `layers` and `generate` in a manifest: what is wrong is told with its line, what there is, and a hint."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from mlmodelscope.errors import ManifestError
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import ModelManifest

TEXT = """\
name: translator
version: 1.0.0
task: translation
framework: {name: onnxruntime, version: "*"}
files:
  words: {url: words.txt}
  decoder: {url: ../decoder.onnx}
inputs:
  - type: text
    element_type: int64
    processing:
      - tokenize: {file: words, library: wordpiece}
outputs: [{type: tensor}]
answer:
  - detokenize: {file: words, library: wordpiece}
source: {graph_path: encoder.onnx}
generate:
  graph: decoder
  feeds: {said: tokens, states: outputs.states}
  start: [0]
"""


def problem(text: str) -> Any:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, "translator.yml")
    assert len(caught.value.problems) == 1, str(caught.value)
    return caught.value.problems[0]


def test_what_is_written_is_what_is_read() -> None:
    model = parse_manifest(TEXT)
    assert isinstance(model, ModelManifest) and model.generate is not None
    assert model.generate.feeds == {"said": "tokens", "states": "outputs.states"}
    assert (model.generate.longest, model.generate.beams, model.generate.stop) == (448, 1, ())


@pytest.mark.parametrize(
    ("before", "after", "line", "words", "known", "hint"),
    [
        (
            "graph: decoder",
            "graph: decodr",
            18,
            "the decoder is `decodr`, which is not one of the manifest's `files`",
            ("words", "decoder"),
            "did you mean `decoder`?",
        ),
        (
            "graph: decoder",
            "graph: other",
            18,
            "the decoder is `other`, which is not one",
            ("words", "decoder"),
            "add it: `files: {other: {url: …}}`",
        ),
        ("tokenize: {file: words", "tokenize: {file: word", 11, "`file` is `word`", ("words", "decoder"), "`words`?"),
        ("detokenize: {file: words", "detokenize: {file: word", 14, "`file` is `word`", ("words",), "`words`?"),
        ("said: tokens", "said: token", 19, "`token` is not one of the known values", ("last", "mask"), "`tokens`?"),
        ("states: outputs.states", "states: output.states", 19, "`output.states` is not", ("outputs.NAME",), ""),
        (
            "generate:\n",
            "run: |\n  def run(ctx, data):\n      return data\ngenerate:\n",
            20,
            "`generate` and the function `run`: one of them makes the answers",
            (),
            "leave out `generate` or `run`",
        ),
        ("start: [0]", "start: [-1]", 20, "expected greater than or equal to 0, saw -1", (), ""),
        ("start: [0]", "start: [0]\n  never: [-1]", 21, "expected greater than or equal to 0, saw -1", (), ""),
        ("start: [0]", "start: [0]\n  beams: 65", 21, "expected less than or equal to 64, saw 65", (), ""),
        ("start: [0]", "start: [0]\n  longest: 0", 21, "expected greater than or equal to 1, saw 0", (), ""),
        ("start: [0]", "start: [0]\n  per_second: 0", 21, "expected greater than 0, saw 0", (), ""),
        ("start: [0]", "start: [0]\n  beam: 3", 21, "unknown key `beam`", ("beams",), "did you mean `beams`?"),
        ("  start: [0]\n", "", 17, "the key `start` is missing", (), ""),
    ],
)
def test_what_is_wrong_is_told_where_it_is(
    before: str, after: str, line: int, words: str, known: tuple[str, ...], hint: str
) -> None:
    assert before in TEXT
    found = problem(TEXT.replace(before, after, 1))
    assert words in found.message and found.line == line
    assert set(known) <= set(found.known) and hint in (found.hint or "")


@pytest.mark.parametrize(
    "number", ["length_penalty: .nan", "length_penalty: .inf", "per_second: .nan", "per_second: .inf"]
)
def test_numbers_without_end_are_refused(number: str) -> None:
    problem(TEXT + f"  {number}\n")


@pytest.mark.parametrize("word", ["files: [a]", "files: 3", "generate: tokens", "generate: []"])
def test_other_kinds_of_things_are_refused_in_words(word: str) -> None:
    data = yaml.safe_load(TEXT)
    data.update(yaml.safe_load(word))
    with pytest.raises(ManifestError):
        parse_manifest(yaml.safe_dump(data))


def test_paths_of_files_lie_beside_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "m.yml").write_text(TEXT)
    model = load_manifest(tmp_path / "models" / "m.yml")
    assert isinstance(model, ModelManifest)
    assert Path(model.files["words"].url) == tmp_path / "models" / "words.txt"
    assert Path(model.files["decoder"].url).resolve() == tmp_path / "decoder.onnx"


@pytest.mark.parametrize("checksum", ["sha256:12", "md5:zz", "nonsense"])
def test_a_checksum_that_is_none_is_refused(checksum: str) -> None:
    found = problem(TEXT.replace("{url: words.txt}", f"{{url: words.txt, checksum: '{checksum}'}}"))
    assert found.path == "files.words.checksum" and found.line == 6


def test_a_manifest_with_files_is_the_same_wherever_it_lies(tmp_path: Path) -> None:
    found = []
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.yml").write_text(TEXT)
        found.append(load_manifest(tmp_path / name / "m.yml"))
    assert found[0].digest == found[1].digest == parse_manifest(TEXT).digest
    other = parse_manifest(TEXT.replace("words.txt", "others.txt"))
    assert other.digest != found[0].digest
