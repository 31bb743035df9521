"""Manifests are found by path, name, version, id and digest, whatever else lies in their folder."""

import os
from pathlib import Path

import pytest

from mlmodelscope.errors import ManifestError, UsageError
from mlmodelscope.manifest.catalog import find_manifest, find_model, list_catalog
from mlmodelscope.manifest.schema import DatasetManifest, HardwareManifest, ModelManifest, SoftwareManifest

MODEL = """\
id: {id}
name: {name}
version: {version}
task: general
framework: {{name: fake}}
run: |
  def run(ctx, data):
    return data
"""
DATASET = "name: 'pictures' # of cats\nversion: 1.0.0\nformat: folder\nsources: [{url: x}]\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One flat folder of the user's, with several versions, several kinds and broken neighbours."""
    for version in ("1.2.0", "1.10.0", "2.0.0-rc1"):
        (tmp_path / f"toy-{version}.yml").write_text(MODEL.format(id=f"toy/{version}@lab", name="toy", version=version))
    (tmp_path / "pictures.yaml").write_text(DATASET)
    (tmp_path / "lab.yml").write_text("id: 'lab 7/b'\ncpu: [{arch: x86-64}]\n")
    (tmp_path / "json.yml").write_text('{"name": "in-json", "version": "1.0.0", "container": "a/b:c"}')
    (tmp_path / "spaces.yml").write_text("id: 0042\nname: Two Words\nversion: 1.0.0\ncontainer: a/b:c\n")
    (tmp_path / "broken.yml").write_text("name: broken\nversion: [")
    (tmp_path / "binary.yml").write_bytes(b"\x80name: x\x00")
    (tmp_path / "folder.yml").mkdir()
    os.symlink("nowhere", tmp_path / "dangling.yml")
    os.mkfifo(tmp_path / "pipe.yml")
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(tmp_path))
    return tmp_path


def test_by_path(folder: Path) -> None:
    assert find_model(str(folder / "toy-1.2.0.yml")).version == "1.2.0"
    with pytest.raises(ManifestError, match="there is no such file"):
        find_model(str(folder / "none.yml"))


def test_by_name_the_newest_is_taken() -> None:
    assert find_model("toy").version == "2.0.0-rc1"
    assert find_model("toy@^1").version == "1.10.0" and find_model("toy@~1.2").version == "1.2.0"
    with pytest.raises(UsageError, match=r"no version of toy satisfies \^3; there is 1.2.0, 1.10.0, 2.0.0-rc1"):
        find_model("toy@^3")


def test_a_manifest_is_itself() -> None:
    assert find_model(find_model("toy")) == find_model("toy")


def test_by_id_whatever_letters_it_has() -> None:
    assert find_model("toy/1.2.0@lab").version == "1.2.0"
    assert find_manifest(HardwareManifest, "lab 7/b") == find_manifest(HardwareManifest, "lab-7-b")
    assert find_manifest(SoftwareManifest, "0042").name == "Two-Words"


def test_by_digest_and_its_beginning() -> None:
    toy = find_model("toy@1.2.0")
    assert find_model(toy.digest) == find_model(f"sha256:{toy.digest[:12]}") == toy
    with pytest.raises(UsageError, match="no model with the digest"):
        find_model("0" * 12)


def test_names_as_manifests_spell_them() -> None:
    assert find_manifest(DatasetManifest, "pictures").name == "pictures"
    assert find_manifest(SoftwareManifest, "in-json").name == "in-json"
    assert find_manifest(SoftwareManifest, "Two-Words").attributes["title"] == "Two Words"


def test_another_kind_is_not_taken_for_it(folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no model `pictures`"):
        find_model("pictures")
    with pytest.raises(UsageError, match="is a dataset manifest, not a model manifest"):
        find_model(str(folder / "pictures.yaml"))


def test_what_is_known_is_of_the_kind_that_is_sought() -> None:
    with pytest.raises(UsageError) as refused:
        find_model("nothing-like-it")
    known = refused.value.message.partition("known: ")[2].split(", ")
    assert {"toy", "broken"} <= {*known} and not {"pictures", "in-json", "two-words"} & {*known}


def test_a_broken_neighbour_hides_nothing_but_itself() -> None:
    with pytest.raises(ManifestError, match=r"broken.yml:\d"):
        find_model("broken")
    with pytest.raises(UsageError, match="did you mean `toy`"):
        find_model("toi")


def test_a_users_manifest_comes_before_the_shipped_one_of_the_same_version(folder: Path) -> None:
    shipped = next(entry for entry in list_catalog("models") if entry.name == "efficientnet-lite0")
    (folder / "mine.yml").write_text(shipped.path.read_text().replace("graphs/", f"{shipped.path.parent}/graphs/"))
    assert find_model("efficientnet-lite0").file == str(folder / "mine.yml")
    assert isinstance(find_model("efficientnet-lite0"), ModelManifest)
