"""Every form of source: what is read of it, and that nothing of it is executed or dropped unseen."""

import json
import os
import random
from pathlib import Path

import pytest

from budget import tries
from catalog.samples import FORMS, write
from mlmodelscope.catalog.described import manifest_text
from mlmodelscope.catalog.entry import as_data, from_data
from mlmodelscope.catalog.facts import Source
from mlmodelscope.catalog.files import Files
from mlmodelscope.catalog.source.form import REGISTRY, Reading, find_form, read_entries
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.load import parse_manifest

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared") / "catalogue"


def read(folder, form=None):
    reading = Reading(Files(folder))
    return read_entries(find_form(reading.files, form), reading), reading


def source(form, origin="https://github.com/o/r"):
    return Source("own", form, origin, "abcdef1234")


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_recognized_by_its_files(form, tmp_path):
    assert find_form(Files(write(tmp_path, FORMS[form]))).name == form


def test_every_form_has_a_sample_and_a_row_in_the_docs():
    text = (Path(__file__).parents[2] / "docs" / "catalog.md").read_text(encoding="utf-8")
    for name in REGISTRY.built_in:
        assert name in FORMS and f"`{name}`" in text


@pytest.mark.parametrize("form", FORMS)
def test_every_entry_becomes_a_valid_manifest_and_survives_the_file_of_facts(form, tmp_path):
    entries, _ = read(write(tmp_path, FORMS[form]), form)
    assert entries
    for entry in entries:
        parse_manifest(manifest_text(entry, source(form)), entry.name)
        again = from_data(json.loads(json.dumps(as_data(entry))))
        assert json.dumps(as_data(again)) == json.dumps(as_data(entry))


def test_timm_reads_configurations_results_and_says_what_it_leaves_out(tmp_path):
    entries, reading = read(write(tmp_path, FORMS["timm"]))
    found = {entry.name: entry for entry in entries}
    assert set(found) == {"resnet50.a1_in1k", "resnet18.old_in1k", "resnet99.gone"}
    measured = found["resnet50.a1_in1k"]
    # The numbers were measured at timm's test size, so the steps are those.
    assert measured.input_size == (3, 288, 288) and all(claim.fits for claim in measured.claims)
    assert measured.weights[0].url == "https://huggingface.co/timm/resnet50.a1_in1k/resolve/main/model.safetensors"
    assert found["resnet18.old_in1k"].weights[0].sha256_start == "5c106cde"
    assert found["resnet18.old_in1k"].parameters == 1_011_690_000
    assert [claim.value for claim in measured.claims] == ["81.214", "95.340"]
    assert dict(reading.left_out) == {
        "an architecture without published weights": 1,
        "a configuration that is more than data": 1,
        "a row of another length than its header": 1,
    }


def test_no_code_of_a_source_is_executed(tmp_path, monkeypatch):
    monkeypatch.setattr("os.system", lambda _: pytest.fail("executed"))
    read(write(tmp_path, FORMS["timm"]))


def test_steps_of_timm_follow_its_configuration(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["timm"]))
    text = manifest_text(next(entry for entry in entries if entry.name == "resnet18.old_in1k"), source("timm"))
    manifest = parse_manifest(text, "m")
    assert [type(step).__name__ or step for step in manifest.inputs[0].processing]
    assert "short_side: 235" in text and "dimensions: [224, 224]" in text  # floor(224 / 0.95)
    assert manifest.source.builder == "timm" and manifest.source.graph_path is None


def test_torchvision_keeps_digits_and_epe_is_pixels(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["torchvision"]))
    found = {entry.name: entry for entry in entries}
    assert set(found) == {"resnet50.imagenet1k_v1", "raft_large.c_t_v1"}
    first = found["resnet50.imagenet1k_v1"].claims[0]
    assert (first.metric, first.value, first.unit, first.dataset) == ("top1", "76.130", "percent", "imagenet-val")
    assert {claim.unit for claim in found["raft_large.c_t_v1"].claims} == {"number"}


def test_openmmlab_tells_fractions_from_percentages_by_file(tmp_path):
    entries, reading = read(write(tmp_path, FORMS["openmmlab"]))
    found = {entry.name: entry for entry in entries}
    pose = found["td-hm_hrnet-w48"].claims[0]
    assert (pose.value, pose.unit) == ("0.722", "share") and "no number" in pose.because
    assert found["faster"].claims[0].unit == "percent"
    # A second model of the same name is kept under the start of its weights' digest.
    second = found["faster.147c8118"]
    low = second.claims[0]
    assert (low.value, low.unit) == ("0.9", "share") and "about 37.4" in low.because
    assert not second.claims[1].fits and second.claims[1].conditions == "ms+flip"
    assert reading.left_out["a metric without a number"] == 1


def test_onnx_models_have_their_digest_and_no_climbing_path(tmp_path):
    entries, reading = read(write(tmp_path, FORMS["onnx"]))
    assert [entry.name for entry in entries] == ["resnet50-v1-7"]
    assert sum(reading.left_out.values()) == 1
    manifest = parse_manifest(manifest_text(entries[0], source("onnx", "https://github.com/onnx/models")), "m")
    assert manifest.source.graph_checksum == f"sha256:{'ab' * 32}"
    assert "/raw/abcdef1234/validated/" in manifest.source.graph_path
    assert manifest.inputs[0].shape == (-1, 3, 224, 224)


def test_keras_preprocessing_is_written_out(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["keras"]))
    text = manifest_text(entries[0], source("keras"))
    assert "color_layout: BGR" in text and "103.939" in text and "builder" not in text
    assert "export the model to ONNX" in text


def test_two_numbers_in_a_cell_are_two_claims(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["tensorflow"]))
    assert [(claim.metric, claim.value) for claim in entries[0].claims] == [("ap", "40.0"), ("oks-ap", "61.4")]


def test_em_is_a_share_and_f1_a_percentage_in_the_same_card(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["huggingface"]))
    assert entries[0].name == "owner--bert-qa"
    assert [(claim.metric, claim.unit, claim.split) for claim in entries[0].claims] == [
        ("exact-match", "share", "validation"),
        ("answer-f1", "percent", "validation"),
    ]


def test_a_folder_of_manifests_keeps_their_claims(tmp_path):
    entries, _ = read(write(tmp_path, FORMS["manifests"]))
    assert entries[0].claims[0].value == "75.10"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_bytes(FORMS["keras"]["applications.md"])
    folder = tmp_path / "source"
    folder.mkdir()
    (folder / "applications.md").symlink_to(secret)
    entries, reading = read(folder, "keras")
    assert not entries and reading.left_out == {"a page that cannot be read": 1}


@pytest.mark.parametrize("form", FORMS)
def test_damaged_files_give_facts_or_an_error_of_ours(form, tmp_path):
    generator = random.Random(form)
    folder = write(tmp_path, FORMS[form])
    names = [name for name, content in FORMS[form].items() if content]
    for _ in range(tries(8, 200)):
        name = generator.choice(names)
        raw = FORMS[form][name]
        (folder / name).write_bytes(_damaged(raw, generator))
        try:
            entries, _ = read(folder, form)
            for entry in entries:
                parse_manifest(manifest_text(entry, source(form)), "m")
        except MLModelScopeError:
            pass
        (folder / name).write_bytes(raw)


def _damaged(raw: bytes, generator: random.Random) -> bytes:
    kind, at = generator.randrange(6), generator.randrange(len(raw))
    end = min(len(raw), at + generator.randrange(1, 60))
    if kind == 0:
        return raw[:at]
    if kind == 1:
        return raw[:at] + generator.randbytes(generator.randrange(1, 9)) + raw[end:]
    if kind == 2:
        return raw[:at] + raw[at:end] * generator.randrange(2, 50) + raw[end:]
    if kind == 3:
        return raw[:at] + generator.choice([b"[" * 3000, b"(" * 3000, b"{" * 3000, b"- " * 3000]) + raw[at:]
    if kind == 4:
        words = [
            b"nan",
            b"-inf",
            b"1e999",
            b"\x00",
            "\u2028".encode(),
            b"../..",
            b"9" * 400,
            b"null",
            b"[]",
            b"{}",
            b'""',
        ]
        return raw[:at] + generator.choice(words) + raw[end:]
    return raw[:at] + raw[end:]


@pytest.mark.shared
@pytest.mark.slow(reason="thousands of manifests are written and parsed")
@pytest.mark.skipif(not SHARED.is_dir(), reason="needs the development data folder")
@pytest.mark.parametrize(
    ("folder", "form", "models", "claims"),
    [
        ("timm", "timm", 1267, 24896),
        ("openmmlab/mmpretrain", "openmmlab", 548, 859),
        ("openmmlab/mmdetection", "openmmlab", 593, 822),
        ("openmmlab/mmsegmentation", "openmmlab", 626, 1201),
        ("onnx", "onnx", 184, 0),
        ("keras", "keras", 38, 71),
        ("detectron2", "detectron2", 64, 117),
        ("tensorflow", "tensorflow", 90, 89),
    ],
)
def test_every_row_of_the_collection_becomes_a_valid_manifest(folder, form, models, claims):
    entries, reading = read(SHARED / folder, form)
    assert (len(entries), sum(len(entry.claims) for entry in entries)) == (models, claims)
    for entry in entries:
        parse_manifest(manifest_text(entry, source(form)), entry.name)
