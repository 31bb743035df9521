"""Files of targets travel with them, and only they."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.dataset.truth_files import packed_target, unpack_truth, unpacked_target


def test_a_file_travels_once_and_comes_out_the_same(tmp_path: Path) -> None:
    (tmp_path / "mask.png").write_bytes(b"pixels")
    target = {"mask": {"file": str(tmp_path / "mask.png")}, "name": "mask.png", "labels": {"void": [0]}}
    with zipfile.ZipFile(tmp_path / "part.zip", "w") as archive:
        told = [packed_target(target, archive) for _ in range(2)]
        assert len(archive.namelist()) == 1 and told[0] == told[1] and "file" not in told[0]["mask"]
    (tmp_path / "there").mkdir()
    with zipfile.ZipFile(tmp_path / "part.zip") as archive:
        unpack_truth(archive, tmp_path / "there")
    found = unpacked_target(told[0], tmp_path / "there")
    assert Path(found["mask"]["file"]).read_bytes() == b"pixels" and found["labels"] == {"void": [0]}


@pytest.mark.parametrize("target", [7, None, [1], {"boxes": []}])
def test_other_targets_stay_as_they_are(target: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "part.zip", "w") as archive:
        assert unpacked_target(packed_target(target, archive), tmp_path) == target


@pytest.mark.parametrize("value", [{"file": "/etc/passwd"}, {"truth": "../../etc/passwd"}])
def test_a_path_from_elsewhere_is_refused(value: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a target names"):
        unpacked_target({"mask": value}, tmp_path)


def test_a_member_that_is_no_digest_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "part.zip", "w") as archive:
        archive.writestr("truth/../../x", b"")
    with zipfile.ZipFile(tmp_path / "part.zip") as archive, pytest.raises(ValueError, match="not the name"):
        unpack_truth(archive, tmp_path)
