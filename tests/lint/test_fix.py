"""Mending changes what is wrong and not a letter more."""

import os
import stat
from pathlib import Path

import pytest

from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.fix import Mended, mend, write_text
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import ModelManifest

from .samples import LISTING1, SAMPLES, V1A, V1B


def mended(text: str, codes: set[str] | None = None) -> Mended:
    return mend(*check_text(text, "x.yml"), codes)


def test_swapped_images_are_swapped_back_and_nothing_else() -> None:
    done = mended(V1A, {"M020"})
    before, after = V1A.splitlines(), done.text.splitlines()
    assert [line for line, other in zip(before, after, strict=True) if line != other] == before[7:9]
    assert after[7:9] == [
        "    gpu: example/carml-caffe2:amd64-gpu",
        "    cpu: example/carml-caffe2:amd64-cpu",
    ]


def test_a_number_becomes_a_text_and_the_manifest_stays_the_same() -> None:
    done = mended(V1B, {"M030"})
    assert "version: '1.10'" in done.text and "version: '1.0'" in done.text
    assert parse_manifest(done.text).digest == parse_manifest(V1B).digest


def test_misspelt_keys_and_values_are_spelt_right() -> None:
    done = mended(V1B, {"M010"})
    assert "float32s" not in done.text and "probailities" not in done.text
    assert len(done.applied) == 2 and not [found for found in done.left if found.code == "M010"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("resize:", "resise:"),
        ("license: ", "licnse: "),
        ("type: probability", "type: probabilty"),
        ("color_layout: RGB", "color_layuot: RGB"),
        ("keep_aspect_ratio: true", "keep_aspect_ration: true"),
        ("method: bilinear", "method: bilinaer"),
        ("task: classification", "task: clasification"),
        ("  layer_name: prob", "  layer_nam: prob"),
    ],
)
def test_a_near_miss_of_the_schema_is_mended(right: str, wrong: str) -> None:
    done = mended(LISTING1.replace(right, wrong))
    assert [found.code for found in done.applied] == ["M001"]
    assert done.text == LISTING1


def test_what_could_mean_two_things_is_left_alone() -> None:
    text = LISTING1.replace("license: Apache-2.0", "zzz: Apache-2.0")
    assert mended(text).text == text


def test_a_key_is_not_renamed_to_one_that_is_there() -> None:
    text = LISTING1.replace("license: Apache-2.0", "license: Apache-2.0\nlicnse: MIT")
    assert mended(text).text == text


def test_what_can_be_mended_is_though_the_rest_is_wrong() -> None:
    text = LISTING1.replace("task: classification\n", "").replace("version: 1.0.0", "version: 1.0", 1)
    assert mended(text).text == text.replace("version: 1.0\n", "version: '1.0'\n")


def test_two_mistakes_are_mended_in_one_go() -> None:
    text = LISTING1.replace("resize:", "resise:").replace("processing:", "procesing:", 1)
    assert mended(text).text == LISTING1


@pytest.mark.parametrize("name", SAMPLES)
def test_mending_never_makes_a_manifest_worse(name: str) -> None:
    before = check_text(SAMPLES[name], "x.yml")[1]
    done = mended(SAMPLES[name])
    assert len(done.left) <= len(before)
    assert mended(done.text).applied == ()
    old, new = parse_manifest(SAMPLES[name]), parse_manifest(done.text)
    leave_out = {"container"} if isinstance(old, ModelManifest) else set()
    assert old.model_dump(exclude=leave_out) == new.model_dump(exclude=leave_out)


def test_windows_line_ends_comments_and_odd_letters_stay() -> None:
    text = "# ü — 𝔘 comment\r\n" + V1B.replace("\n", "\r\n").replace("the input image", "das Bild 🖼 ü")
    done = mended(text)
    assert len(done.applied) == 5
    assert done.text.count("\r\n") == text.count("\r\n") == done.text.count("\n")
    assert done.text.startswith("# ü — 𝔘 comment\r\n") and "das Bild 🖼 ü" in done.text
    assert "version: '1.10'\r\n" in done.text and "element_type: float32\r\n" in done.text


def test_the_mode_of_a_file_its_mark_and_a_link_to_it_stay(tmp_path: Path) -> None:
    path, link = tmp_path / "a.yml", tmp_path / "link.yml"
    path.write_bytes(b"\xef\xbb\xbfname: x\n")
    path.chmod(0o640)
    link.symlink_to(path)
    write_text(link, "name: y\n")
    assert link.is_symlink() and path.read_bytes() == b"\xef\xbb\xbfname: y\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a.yml", "link.yml"]


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(MLModelScopeError, match="cannot write"):
        write_text(tmp_path / "none" / "a.yml", "x")


@pytest.mark.parametrize(
    ("right", "meant"),
    [("color_layout: RGB", "color_layout: RGBA"), ("element_type: float32", "element_type: float16x")],
)
def test_a_value_that_may_be_meant_is_left_to_its_author(right: str, meant: str) -> None:
    wrong = LISTING1.replace(right, meant)
    assert wrong != LISTING1 and mended(wrong).text == wrong


def test_a_misspelled_framework_is_noticed_and_spelled_right() -> None:
    wrong = LISTING1.replace("name: TensorFlow", "name: TensorFlwo")
    (found,) = [each for each in check_text(wrong, "x.yml")[1] if each.code == "M014"]
    assert "no predictor for the framework `TensorFlwo`" in found.message and found.hint == "did you mean `tensorflow`?"
    assert "name: tensorflow" in mended(wrong).text
    other = LISTING1.replace("name: TensorFlow", "name: tensorflow2")
    assert [each.code for each in check_text(other, "x.yml")[1] if each.code == "M014"] and mended(other).text == other
