"""Manifests load strictly, and errors are written for a tired person."""

from pathlib import Path

import pytest

from mlmodelscope.errors import ManifestError, Problem
from mlmodelscope.manifest.catalog import list_catalog
from mlmodelscope.manifest.load import load_manifest, parse_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.source import MAX_BYTES

LISTING = (Path(__file__).parent / "listing1.yml").read_text()


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ManifestError) as caught:
        parse_manifest(text, "model.yml")
    return caught.value.problems


def only_problem(text: str | bytes) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


def model(text: str) -> ModelManifest:
    manifest = parse_manifest(text)
    assert isinstance(manifest, ModelManifest)
    return manifest


def test_listing_1_of_the_paper_is_valid_as_it_stands() -> None:
    manifest = model(LISTING)
    assert (manifest.name, manifest.framework.name, manifest.framework.version) == (
        "Inception-v3",
        "TensorFlow",
        "^1.x",
    )
    assert manifest.container["ppc64le"].gpu == "mlcn/tensorflow:1-13-0_ppc64le-gpu"
    assert manifest.envvars == {"TF_ENABLE_WINOGRAD_NONFUSED": "0"}
    assert [step.name for step in manifest.inputs[0].processing] == ["decode", "crop", "resize", "mean", "rescale"]
    assert manifest.inputs[0].processing[2].parameters["dimensions"] == [299, 299]
    assert manifest.outputs[0].features_url == "https://.../synset.txt"
    assert manifest.training_dataset is not None and manifest.training_dataset.name == "ILSVRC 2012"


def test_containers_and_variables_may_stand_inside_the_framework_as_in_print() -> None:
    head, _, rest = LISTING.partition("container:")
    containers, _, tail = rest.partition("envvars:\n  - ")
    variable, _, tail = tail.partition("\n")
    indented = "container:" + containers.rstrip().replace("\n", "\n  ")
    printed = f"{head}  {indented}\n  {variable}\n{tail}"
    assert model(printed) == model(LISTING)


def test_a_single_input_needs_no_list() -> None:
    bare = LISTING.replace("  - type: image", "    type: image")
    assert model(bare).inputs == model(LISTING).inputs


def test_the_order_of_steps_is_the_order_written() -> None:
    crop = "      crop:\n        method: center\n        percentage: 87.5\n"
    assert crop in LISTING
    moved = LISTING.replace(crop, "").replace("      mean:", crop + "      mean:")
    names = [step.name for step in model(moved).inputs[0].processing]
    assert names == ["decode", "resize", "crop", "mean", "rescale"]


def test_steps_may_be_a_list_and_then_repeat() -> None:
    listed = (
        LISTING.replace("      mean: [127.5, 127.5, 127.5]\n      rescale: 127.5\n", "")
        .replace("      decode:", "      - decode:")
        .replace("      crop:", "      - crop:")
        .replace("      resize:", "      - resize:")
    )
    listed = listed.replace("keep_aspect_ratio: true", "keep_aspect_ratio: true\n      - mean: 1\n      - mean: 2")
    listed = listed.replace("        element_type: int8", "          element_type: int8")
    for key in ("data_layout", "color_layout", "method", "percentage", "dimensions", "keep_aspect_ratio"):
        listed = listed.replace(f"\n        {key}", f"\n          {key}")
    means = [step.parameters["values"] for step in model(listed).inputs[0].processing if step.name == "mean"]
    assert means == [1.0, 2.0]


def test_a_wrong_step_is_named_with_its_place_what_is_known_and_a_hint() -> None:
    problem = only_problem(LISTING.replace("resize:", "resise:"))
    assert problem.message == "unknown step `resise`"
    assert (problem.file, problem.line, problem.column) == ("model.yml", 30, 7)
    assert problem.path == "inputs[0].processing.resise"
    assert "resize" in problem.known
    assert problem.hint == "did you mean `resize`?"


@pytest.mark.parametrize(
    ("written", "instead", "message", "line", "hint"),
    [
        ("method: bilinear", "method: bilinar", "`bilinar` is not one of its values", 32, "bilinear"),
        ("percentage: 87.5", "percentage: 187.5", "187.5 is above 100", 29, None),
        ("percentage: 87.5", "percentage: much", "expected a number, saw 'much'", 29, None),
        ("percentage: 87.5", "percent: 87.5", "unknown parameter `percent`", 29, "percentage"),
        ("  name: TensorFlow", "  name: 7", "expected text, saw 7", 7, None),
        ("version: ^1.x", "version: newest", "`newest` is not a version constraint", 8, None),
        ("version: 1.0.0 # semantic", "version: one # semantic", "`one` is not a version", 2, None),
        ("element_type: float32\n    processing: # pre", "element_type: f32\n    processing: # pre", "`f32`", 21, None),
        ("task: classification", "task: clasification", "`clasification`", 3, "classification"),
        ("rescale: 127.5", "rescale: 0", "a divisor cannot be 0", 35, None),
        ("name: Inception-v3", "name: ../../etc", "a name has letters", 1, None),
        ("graph_path: https://../inception_v3.pb", "graph_path: pypi:thing/x", "is not of the form", 43, None),
    ],
)
def test_a_wrong_value_is_explained_where_it_stands(
    written: str, instead: str, message: str, line: int, hint: str | None
) -> None:
    assert written in LISTING
    problem = only_problem(LISTING.replace(written, instead))
    assert message in problem.message
    assert problem.line == line
    assert hint is None or hint in (problem.hint or "")


def test_an_unknown_key_and_the_key_it_was_meant_to_be_are_both_told() -> None:
    first, second = problems(LISTING.replace("inputs:", "input:"))
    assert first.message == "the key `inputs` is missing"
    assert second.message == "unknown key `input`" and second.hint == "did you mean `inputs`?"


def test_all_problems_are_told_at_once() -> None:
    text = LISTING.replace("resize:", "resise:").replace("task: classification", "task: x").replace("^1.x", "newest")
    assert len(problems(text)) == 3


def test_a_version_is_kept_as_it_was_written() -> None:
    manifest = model(LISTING.replace("version: 1.0.0 # semantic", "version: 1.10 # semantic"))
    assert manifest.version == "1.10"


def test_a_claim_keeps_its_digits() -> None:
    manifest = model(LISTING + "claims:\n  - {metric: top1, value: 75.10}\n")
    assert manifest.claims[0].value == "75.10"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"# nothing\n", "the file is empty"),
        (b"- a\n- b\n", "a manifest is a mapping"),
        (b"just text", "a manifest is a mapping"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not UTF-8"),
        (b"a: \x00b", "not valid YAML"),
        (b"a: [1, 2", "not valid YAML"),
        (b"a: 1\n\tb: 2", "not valid YAML"),
        (b"a: 1\nb: 2\na: 3\n", "the key `a` stands here a second time (first in line 1)"),
        (b"a: !!python/object/apply:os.system [echo]", "the tag"),
        (b"{a: 1}: 2", "a key must be a word"),
        (b"a: &a [*a]", "repeats nothing that ends before it"),
        (
            b"".join(b"k%d: &k%d [*k%d]\n" % (n, n, n - 1) if n else b"k0: &k0 [1]\n" for n in range(200)),
            "nested deeper",
        ),
        (b"[" * 3000, "nested deeper than"),
        (b"x: " + b"[" * 500 + b"]" * 500, "nested deeper than"),
    ],
)
def test_what_is_no_manifest_is_refused_with_a_reason(content: bytes, message: str) -> None:
    assert message in only_problem(content).message


def test_a_bomb_of_aliases_is_counted_not_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "once its aliases are expanded" in only_problem("\n".join(lines)).message


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    path = tmp_path / "huge.yml"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES * 100)
    with pytest.raises(ManifestError, match="so not a manifest"):
        load_manifest(path)


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match="No such file"):
        load_manifest(tmp_path / "none.yml")
    with pytest.raises(ManifestError, match="this is a folder"):
        load_manifest(tmp_path)


def test_paths_are_relative_to_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "model.yml").write_text(LISTING.replace("https://../inception_v3.pb", "nets/inception.pb"))
    manifest = load_manifest(tmp_path / "model.yml")
    assert isinstance(manifest, ModelManifest)
    assert manifest.source.graph_path == str(tmp_path / "nets/inception.pb")


def test_a_manifest_is_validated_once_and_its_digest_is_the_same_wherever_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    validate = ModelManifest.model_validate
    monkeypatch.setattr(ModelManifest, "model_validate", lambda data: seen.append(data) or validate(data))
    text = LISTING.replace("https://../inception_v3.pb", "nets/inception.pb")
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "model.yml").write_text(text)
    here, there = (load_manifest(tmp_path / folder / "model.yml") for folder in ("here", "there"))
    assert len(seen) == 2 and here.digest == there.digest and here != there


def test_both_spellings_of_licence_are_welcome() -> None:
    one, other = (model(LISTING.replace("licence:", f"{word}:")) for word in ("licence", "license"))
    assert one.license == other.license == "MIT" and one.digest == other.digest


def test_a_manifest_may_be_a_mapping_made_by_a_program() -> None:
    manifest = load_manifest(
        {"name": "d", "version": "1", "task": "classification", "format": "folder", "sources": [{"url": "x"}]}
    )
    assert isinstance(manifest, DatasetManifest)


@pytest.mark.parametrize("kind", ["models", "datasets"])
def test_every_manifest_we_ship_loads_and_is_pinned(kind: str) -> None:
    entries = list(list_catalog(kind))  # type: ignore[arg-type]
    assert entries
    for entry in entries:
        manifest = load_manifest(entry.path)
        assert manifest.license and manifest.description and manifest.references, entry.name
        text = entry.path.read_text().partition("\nconnect:")[
            0
        ]  # a folder of the user's is pinned when it is connected
        assert text.count("_path:") + text.count("url:") == text.count("checksum:"), f"{entry.name} has unpinned files"
