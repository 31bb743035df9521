"""A folder is verified once, remembered with what was seen, and refused with a list of what is not as it should be."""

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from connection.conftest import Small
from connection.small_data import imagenet_flat, imagenet_folders, shrunk, write_files, write_manifest
from mlmodelscope.connection.connect import connect, disconnect
from mlmodelscope.connection.kept import connected_names, find_connection, folder_of
from mlmodelscope.connection.resolve import NotConnected, with_folder
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import ChecksumError, DatasetError, MLModelScopeError, StoreError, UsageError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest
from mlmodelscope.plan.dataset import plan_dataset
from mlmodelscope.plan.options import Options
from mlmodelscope.provision import hashing
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

LABELS = ("n01443537", "n01440764", "n01440764", "n01443537")
NAMES = [f"ILSVRC2012_val_{number:08d}.JPEG" for number in (1, 2, 3, 4)]


def opened(manifest: DatasetManifest, settings: Settings) -> list[tuple[str, int | None]]:
    found = open_dataset(plan_dataset(with_folder(manifest, settings), Options(), {}), ArtifactStore(settings))
    return [(sample.id, sample.label) for sample in found.samples]


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Files whose bytes are hashed from here on."""
    seen: list[str] = []
    real = hashing.hash_file

    def note(path: Path | str, algorithm: str = "sha256") -> str:
        if Path(path).suffix == ".JPEG":
            seen.append(Path(path).name)
        return real(path, algorithm)

    monkeypatch.setattr(hashing, "hash_file", note)
    return seen


def test_what_is_not_connected_says_how_to_obtain_it(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    with pytest.raises(NotConnected) as caught:
        with_folder(manifest, settings)
    said = str(caught.value)
    assert "license: ImageNet's terms" in said and "https://image-net.org/download-images.php" in said
    assert said.endswith("hint: mlmodelscope datasets connect imagenet-val FOLDER")
    connect(manifest, folder, settings)
    assert len(opened(manifest, settings)) == 4


def test_a_plan_pins_what_was_seen(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    found = connect(manifest, folder, settings)
    planned = plan_dataset(with_folder(manifest, settings), Options(), {})
    assert planned.sources[0].files.sha256 == found.sources[0].files.sha256
    assert planned.sources[0].files.sha256 == ArtifactStore(settings).fetch(str(folder)).sha256


def test_a_folder_that_changed_since_is_refused(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    connect(manifest, folder, settings)
    (folder / "n01440764" / NAMES[1]).write_bytes(b"\xff\xd8\xffanother")
    with pytest.raises(ChecksumError):
        opened(manifest, settings)
    connect(manifest, folder, settings)
    assert len(opened(manifest, settings)) == 4


def test_missing_and_damaged_files_are_listed_with_counts(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    (folder / "n01443537" / NAMES[0]).unlink()
    with pytest.raises(DatasetError) as caught:
        connect(manifest, folder, settings)
    assert "of 4 files 1 are missing" in str(caught.value) and f"n*/{NAMES[0]}" in str(caught.value)
    assert "n01443537/: 1 files, and there should be 2" in str(caught.value)
    write_files(folder, imagenet_folders() | {f"n01443537/{NAMES[0]}": b"", f"n01440764/{NAMES[1]}": b"<html>"})
    with pytest.raises(DatasetError) as caught:
        connect(manifest, folder, settings)
    assert f"n01443537/{NAMES[0]}: is empty" in str(caught.value)
    assert f"n01440764/{NAMES[1]}: is damaged" in str(caught.value)
    assert find_connection(settings, "imagenet-val") is None


def test_only_the_first_ten_are_named(tmp_path: Path, settings: Settings) -> None:
    data = shrunk("ade20k-val", 40, numbers=[1, 40])
    manifest = load_manifest(write_manifest(tmp_path / "manifests", data))
    folder = write_files(tmp_path / "data", {"images/validation/ADE_val_00000001.jpg": b"\xff\xd8\xff"})
    with pytest.raises(DatasetError) as caught:
        connect(manifest, folder, settings)
    said = str(caught.value)
    assert "of 80 files 79 are missing" in said and "and 69 more" in said
    assert said.count("ADE_val_") == 10


def test_an_empty_folder_a_file_and_no_folder(small: Small, settings: Settings, tmp_path: Path) -> None:
    manifest, _ = small("imagenet-val")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="holds nothing of it"):
        connect(manifest, tmp_path / "empty", settings)
    (tmp_path / "val.tar").write_bytes(b"x")
    with pytest.raises(UsageError, match="it is a file; unpack it first"):
        connect(manifest, tmp_path / "val.tar", settings)
    with pytest.raises(UsageError, match="it does not exist"):
        connect(manifest, tmp_path / "none", settings)


def test_the_files_may_lie_below_the_folder_that_is_named(small: Small, settings: Settings, tmp_path: Path) -> None:
    manifest, _ = small("imagenet-val")
    write_files(tmp_path / "disk" / "ILSVRC" / "Data" / "CLS-LOC" / "val", imagenet_folders())
    found = connect(manifest, tmp_path / "disk", settings)
    assert found.sources[0].files.path.endswith("CLS-LOC/val") and found.layout == "class-folders"


LISTS = {
    "val.txt": "\n".join(f"{name} {number}" for name, number in zip(NAMES, (1, 0, 0, 1), strict=True)),
    "val_map.txt": "\n".join(f"{name} {label}" for name, label in zip(NAMES, LABELS, strict=True)),
    "LOC_val_solution.csv": "ImageId,PredictionString\n"
    + "\n".join(f"{name[:-5]},{label} 1 2 3 4" for name, label in reversed(list(zip(NAMES, LABELS, strict=True)))),
    "imagenet_2012_validation_synset_labels.txt": "\n".join(LABELS),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("beside", ["in the folder", "above it"])
def test_a_flat_folder_has_the_same_labels(
    name: str, beside: str, small: Small, settings: Settings, tmp_path: Path
) -> None:
    manifest, _ = small("imagenet-val")
    folder = write_files(tmp_path / "disk" / "val", imagenet_flat())
    (folder if beside == "in the folder" else folder.parent).joinpath(name).write_text(LISTS[name] + "\n")
    found = connect(manifest, folder, settings)
    assert found.layout == "flat"
    assert opened(manifest, settings) == [(NAMES[0], 1), (NAMES[1], 0), (NAMES[2], 0), (NAMES[3], 1)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n".join(["65", "3", "2", "1"]), "not a list of synsets"),
        (f"{NAMES[0]} 1\n{NAMES[1]} 0", "no label for 2 pictures"),
        (f"{NAMES[0]} 1\n{NAMES[0]} 2", "two labels"),
        (f"{NAMES[0]} cat", "names no picture and its class"),
        ("\n".join(LABELS[:2]), "2 labels for 4 pictures"),
        ("", "0 labels for 4 pictures"),
        ("\n".join([*(f"{name} 1" for name in NAMES[:3]), f"{NAMES[3]} n01440764"]), "synsets and numbers"),
    ],
)
def test_a_list_of_labels_that_cannot_be_right(
    text: str, said: str, small: Small, settings: Settings, tmp_path: Path
) -> None:
    manifest, _ = small("imagenet-val")
    folder = write_files(tmp_path / "flat", {**imagenet_flat(), "val.txt": text.encode()})
    with pytest.raises(DatasetError, match=said):
        connect(manifest, folder, settings)


def test_a_flat_folder_without_labels_says_what_is_looked_for(small: Small, settings: Settings, tmp_path: Path) -> None:
    manifest, _ = small("imagenet-val")
    folder = write_files(tmp_path / "flat", imagenet_flat())
    with pytest.raises(DatasetError, match="looked for LOC_val_solution.csv, val.txt"):
        connect(manifest, folder, settings)


def test_what_was_read_is_not_read_again(small: Small, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest, folder = small("imagenet-val")
    monkeypatch.setattr(hashing, "_SETTLED_S", -1e9)  # else digests of files that are this young are not remembered
    seen = reads(monkeypatch)
    connect(manifest, folder, settings)
    assert sorted(set(seen)) == NAMES and len(seen) == 4
    connect(manifest, folder, settings)
    assert len(seen) == 4
    (folder / "n01440764" / NAMES[1]).write_bytes(b"\xff\xd8\xffanother")  # another size, another time
    connect(manifest, folder, settings)
    assert seen[4:] == [NAMES[1]]


KILLED = """
import os, sys
from pathlib import Path
from mlmodelscope.connection import connect as module
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.provision import hashing
from mlmodelscope.settings import Settings
hashing._SETTLED_S = -1e9
module._TOGETHER = 1
def stop(what, done, total):
    if what == "reading every file" and done > total / 2:
        os.kill(os.getpid(), 9)
home, manifest, folder = map(Path, sys.argv[1:])
module.connect(load_manifest(manifest), folder, Settings(home / "home", home / "cache"), stop)
"""


def test_after_a_kill_only_the_rest_is_read(small: Small, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest, folder = small("imagenet-val")
    home = settings.home.parent
    killed = subprocess.run([sys.executable, "-c", KILLED, home, manifest.file, folder], check=False)
    assert killed.returncode == -9 and find_connection(settings, "imagenet-val") is None
    assert list(folder_of(settings).glob("*")) == []  # no half connection
    monkeypatch.setattr(hashing, "_SETTLED_S", -1e9)
    seen = reads(monkeypatch)
    connect(manifest, folder, settings)
    assert len(seen) == 1 and len(opened(manifest, settings)) == 4


def test_the_publishers_archive_tells_whether_pictures_were_cut_off(tmp_path: Path, settings: Settings) -> None:
    """512 bytes before each file, each filled up to 512, the whole to 10,240."""
    data = shrunk("imagenet-val", 4, numbers=[1, 4], folders=2, in_each=2, tar_bytes=174080)
    manifest = load_manifest(write_manifest(tmp_path / "manifests", data))
    files = {name: content + bytes(40_000) for name, content in imagenet_folders().items()}
    folder = write_files(tmp_path / "data", files)
    assert connect(manifest, folder, settings).samples == 4
    cut = folder / "n01440764" / NAMES[1]
    cut.write_bytes(cut.read_bytes()[:100])
    (folder / "n01440764" / NAMES[2]).write_bytes(b"\xff\xd8\xff")
    with pytest.raises(DatasetError, match=r"of the publisher's archive, which has 174,080: some of them are cut off"):
        connect(manifest, folder, settings)


def test_a_wrong_size_and_a_wrong_checksum_are_named(tmp_path: Path, settings: Settings) -> None:
    data = shrunk("squad-1.1-dev", 1, size_bytes=7)
    manifest = load_manifest(write_manifest(tmp_path / "manifests", data))
    folder = write_files(tmp_path / "data", {"dev-v1.1.json": b"{}"})
    with pytest.raises(DatasetError, match="2 bytes, and it should have 7"):
        connect(manifest, folder, settings)
    data = shrunk("squad-1.1-dev", 1, checksum=f"sha256:{'0' * 64}")
    manifest = load_manifest(write_manifest(tmp_path / "manifests", data))
    with pytest.raises(DatasetError, match="its sha256 is 44136fa355b3678a"):
        connect(manifest, folder, settings)


def test_a_picture_in_two_folders_is_told(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    shutil.copy(folder / "n01440764" / NAMES[1], folder / "n01443537" / NAMES[1])
    with pytest.raises(DatasetError, match=f"{NAMES[1]}: lies in 2 folders"):
        connect(manifest, folder, settings)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"not json", "is damaged: it cannot be read as JSON"),
        (b'{"images": []}', "has no names at `images.file_name`"),
        (b'{"images": [{"file_name": "../../etc/passwd"}]}', "does not lie in the folder"),
        (b'{"images": [{"file_name": "/etc/passwd"}]}', "does not lie in the folder"),
        (b'{"images": [{"file_name": NaN}]}', "has no names"),
        (b"[" * 100_000, "is damaged"),
        (b'{"images": [{"file_name": "x\\ud800y.jpg"}]}', "missing"),
    ],
)
def test_a_hostile_list_is_refused_in_a_sentence(text: bytes, said: str, small: Small, settings: Settings) -> None:
    manifest, folder = small("coco-val2017")
    (folder / "annotations" / "instances_val2017.json").write_bytes(text)
    with pytest.raises(MLModelScopeError, match=said):
        connect(manifest, folder, settings)


def test_names_with_control_characters_are_shown_as_text(small: Small, settings: Settings) -> None:
    manifest, folder = small("coco-val2017")
    (folder / "annotations" / "instances_val2017.json").write_text('{"images": [{"file_name": "a\\u001b[2Jb\\n.jpg"}]}')
    with pytest.raises(DatasetError) as caught:
        connect(manifest, folder, settings)
    assert "\x1b" not in str(caught.value) and r"\x1b[2Jb\n" in str(caught.value)


def test_a_folder_that_may_not_be_read(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    folder.chmod(0)
    try:
        with pytest.raises(DatasetError, match="cannot list"):
            connect(manifest, folder, settings)
    finally:
        folder.chmod(stat.S_IRWXU)


def test_a_pipe_among_the_files_does_not_hang(small: Small, settings: Settings) -> None:
    manifest, folder = small("cifar100-test")
    (folder / "test.bin").unlink()
    os.mkfifo(folder / "test.bin")
    with pytest.raises(DatasetError, match="holds nothing of it"):
        connect(manifest, folder, settings)


def test_a_circle_of_links_ends(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    (folder / "n01440764" / "again").symlink_to(folder)
    with pytest.raises(MLModelScopeError, match="a link to a folder that it lies in"):
        connect(manifest, folder, settings)


def test_a_folder_that_went_away_is_told_with_the_command(small: Small, settings: Settings, tmp_path: Path) -> None:
    manifest, folder = small("imagenet-val")
    connect(manifest, folder, settings)
    folder.rename(tmp_path / "moved")
    with pytest.raises(NotConnected, match="is not there now") as caught:
        with_folder(manifest, settings)
    assert "mlmodelscope datasets connect imagenet-val FOLDER" in str(caught.value)


def test_another_manifest_of_the_name_does_not_use_the_folder(small: Small, settings: Settings, tmp_path: Path) -> None:
    manifest, folder = small("imagenet-val")
    connect(manifest, folder, settings)
    other = {**shrunk("imagenet-val", 4, numbers=[1, 4]), "description": "Another one."}
    changed = load_manifest(write_manifest(tmp_path / "other", other))
    with pytest.raises(NotConnected, match="by another manifest of that name"):
        with_folder(changed, settings)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"name": "imagenet-val"}', "x" * (2 << 20), "[" * 100_000])
def test_a_damaged_memory_says_how_to_forget_it(text: str, small: Small, settings: Settings) -> None:
    manifest, _ = small("imagenet-val")
    folder_of(settings).mkdir(parents=True)
    (folder_of(settings) / "imagenet-val.json").write_text(text)
    with pytest.raises(StoreError, match="mlmodelscope datasets disconnect imagenet-val"):
        with_folder(manifest, settings)
    disconnect("imagenet-val", settings)
    with pytest.raises(NotConnected):
        with_folder(manifest, settings)


def test_disconnect_leaves_the_files(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    connect(manifest, folder, settings)
    assert connected_names(settings) == ["imagenet-val"]
    disconnect("imagenet-val", settings)
    assert connected_names(settings) == [] and len(list(folder.rglob("*.JPEG"))) == 4
    with pytest.raises(UsageError, match="is not connected"):
        disconnect("imagenet-val", settings)


def test_a_dataset_that_can_be_fetched_needs_no_connection(small: Small, settings: Settings) -> None:
    manifest, folder = small("fashion-mnist-test")
    assert with_folder(manifest, settings) is manifest
    connect(manifest, folder, settings)
    assert with_folder(manifest, settings).sources[0].url == str(folder / "t10k-images-idx3-ubyte")


def test_a_dataset_without_a_layout_cannot_be_connected(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "own.yml"
    path.write_text("name: own\nversion: 1.0.0\nformat: folder\nsources: [{url: pictures}]\n")
    with pytest.raises(UsageError, match="needs no folder"):
        connect(load_manifest(path), tmp_path, settings)


def test_what_is_remembered_is_plain(small: Small, settings: Settings) -> None:
    manifest, folder = small("imagenet-val")
    connect(manifest, folder, settings)
    data = json.loads((folder_of(settings) / "imagenet-val.json").read_text())
    assert data["folder"] == str(folder) and data["samples"] == 4 and len(data["digest"]) == 64
