"""Bundles come from other machines: whatever is wrong with one, it is refused and nothing of it stays."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mlmodelscope import Record, Settings, Store, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.record import packed
from mlmodelscope.record.bundle import take_in

Files = dict[str, bytes]


@pytest.fixture
def good(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable, tmp_path: Path
) -> Files:
    record = evaluate(make_model(), make_dataset(make_pictures()), settings=settings)
    Store(settings).export(record, tmp_path / "good.zip")
    with zipfile.ZipFile(tmp_path / "good.zip") as inside:
        return {name: inside.read(name) for name in inside.namelist()}


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Store]:
    store = Store(Settings(tmp_path / "elsewhere", tmp_path / "cache"))
    yield store
    assert not list((store.home / "records").glob("draft-*"))
    assert not (tmp_path / "evil").exists() and not (store.home / "evil").exists()
    store.close()


def pack(place: Path, files: Files, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(place / "bundle.zip", "w", method) as written:
        for name, content in files.items():
            written.writestr(zipfile.ZipInfo(name), content, method)
    return place / "bundle.zip"


def changed(files: Files, **fields: object) -> Files:
    return {**files, "record.json": json.dumps({**json.loads(files["record.json"]), **fields}).encode()}


def test_a_good_one_is_kept_once(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    bundle = pack(tmp_path, {**good, "artifacts/final model.onnx": b"weights"})
    record = take_in(elsewhere, bundle)
    assert elsewhere.get(record.id) == record == take_in(elsewhere, bundle)
    assert elsewhere.samples(record).num_rows == 12
    assert (elsewhere.folder(record.id) / "artifacts" / "final model.onnx").read_bytes() == b"weights"


@pytest.mark.parametrize(
    "name",
    ["../evil", "/evil", "artifacts/../../evil", "..\\evil", "C:\\evil", "a//b", "./x", "x\nname", "x" * 300]
    + ["/".join("a" * 30), "artifacts/..", "x/\u202e"],
)
def test_no_name_leads_outside(good: Files, elsewhere: Store, tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="outside its folder"):
        take_in(elsewhere, pack(tmp_path, {**good, name: b"evil"}))
    assert elsewhere.list() == []


def test_a_link_is_a_file_like_any_other(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    bundle = pack(tmp_path, good)
    with zipfile.ZipFile(bundle, "a") as written:
        link = zipfile.ZipInfo("artifacts/link")
        link.external_attr = 0o120777 << 16
        written.writestr(link, "/etc/passwd")
        written.writestr("artifacts/link2", "x")
    place = elsewhere.folder(take_in(elsewhere, bundle).id) / "artifacts" / "link"
    assert not place.is_symlink() and place.read_text() == "/etc/passwd"


def test_two_files_of_one_name_are_refused(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="two files"):
        take_in(elsewhere, pack(tmp_path, {**good, "artifacts": b"a file", "artifacts/x": b"inside it"}))
    bundle = pack(tmp_path, good)
    with pytest.warns(UserWarning), zipfile.ZipFile(bundle, "a") as written:
        written.writestr("samples.parquet", b"another")
    with pytest.raises(UsageError, match="two files"):
        take_in(elsewhere, bundle)


def test_a_bomb_does_not_go_off(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    bomb = pack(tmp_path, {**good, "artifacts/zeros": bytes(65 << 20)})
    assert bomb.stat().st_size < 1 << 20
    with pytest.raises(UsageError, match="too much space"):
        take_in(elsewhere, bomb)
    with pytest.raises(UsageError, match="too much space"):
        take_in(elsewhere, pack(tmp_path, good), largest=1000)


def test_a_bomb_that_says_it_is_small_does_not_go_off(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    bundle = pack(tmp_path, {**good, "artifacts/zeros": bytes(1 << 20)})
    # Both places that tell the size say less; what is behind that is never written.
    data = bundle.read_bytes().replace(struct.pack("<L", 1 << 20), struct.pack("<L", 10))
    bundle.write_bytes(data)
    with pytest.raises(UsageError):
        take_in(elsewhere, bundle)
    assert elsewhere.list() == []


def test_too_many_files_are_not_even_listed(
    good: Files, elsewhere: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = pack(tmp_path, {**good, **{f"artifacts/{number}": b"" for number in range(50)}})
    monkeypatch.setattr(packed, "_FILES", 40)
    with pytest.raises(UsageError, match="too many files"):
        take_in(elsewhere, bundle)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_only_the_usual_packing_is_unpacked(good: Files, elsewhere: Store, tmp_path: Path, method: int) -> None:
    with pytest.raises(UsageError, match="packed in a way"):
        take_in(elsewhere, pack(tmp_path, good, method))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"id": "../../evil"}, "id that is none"),
        ({"id": "latest"}, "id that is none"),
        ({"id": "2"}, "id that is none"),
        ({"status": "running"}, "not finished"),
        ({"samples": 3}, "rows, the record has 3 samples"),
        ({"samples": "many"}, "cannot be read"),
        ({"surprise": 1}, "cannot be read"),
        ({"created_at": "2999-01-01T00:00:00Z"}, "of the future: 2999-01-01"),
        ({"finished_at": "2999-01-01T00:00:00Z"}, "of the future: 2999-01-01"),
        ({"finished_at": "2026-01-01T00:00:00"}, "without a time zone"),
    ],
)
def test_a_record_that_is_not_right_is_refused(
    good: Files, elsewhere: Store, tmp_path: Path, fields: dict[str, object], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        take_in(elsewhere, pack(tmp_path, changed(good, **fields)))
    assert elsewhere.list() == []


def test_tables_must_be_ours(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    other = io.BytesIO()
    pq.write_table(pa.table({"id": ["x"]}), other)
    for content, words in ((b"no table", "cannot be read"), (other.getvalue(), "other columns"), (b"", "cannot be")):
        with pytest.raises(UsageError, match=words):
            take_in(elsewhere, pack(tmp_path, {**good, "samples.parquet": content}))


def test_the_same_id_for_something_else_is_refused(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    take_in(elsewhere, pack(tmp_path, good))
    with pytest.raises(UsageError, match="another record is called"):
        take_in(elsewhere, pack(tmp_path, changed(good, plan_digest="0" * 64)))


def test_a_list_of_files_that_would_begin_before_the_file_is_refused(
    good: Files, elsewhere: Store, tmp_path: Path
) -> None:
    bundle = pack(tmp_path, good)
    whole = bundle.read_bytes()
    bundle.write_bytes(whole[:-6] + struct.pack("<I", len(whole) * 2) + whole[-2:])
    with pytest.raises(UsageError, match="this is no"):
        take_in(elsewhere, bundle)


def test_whatever_byte_is_wrong_it_is_said(good: Files, elsewhere: Store, tmp_path: Path) -> None:
    """Cut and changed everywhere; never anything but a record or a refusal."""
    bundle = pack(tmp_path, good)
    whole, kept = bundle.read_bytes(), 0
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        for data in (whole[:place], whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :]):
            bundle.write_bytes(data)
            try:
                record: Record = take_in(elsewhere, bundle)
            except UsageError:
                continue
            kept += 1
            elsewhere.delete(record)
    assert kept < 300
