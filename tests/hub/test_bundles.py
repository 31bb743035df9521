"""Signed bundles: what was signed is what is kept, whoever carried it."""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("cryptography", reason="cryptography is not installed")

from PIL import Image

from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.errors import MLModelScopeError, StoreError, UsageError
from mlmodelscope.hub.keys import Keyring, is_signed
from mlmodelscope.hub.manifests import manifests_of
from mlmodelscope.hub.origin import origin_of
from mlmodelscope.hub.pack import pack
from mlmodelscope.hub.receive import Acceptance, UnknownSigner, receive
from mlmodelscope.record import packed
from mlmodelscope.record.bundle import Clash
from mlmodelscope.record.log import write_log
from mlmodelscope.replay import replay
from mlmodelscope.report.report import write_report

MODEL = """\
name: toy
version: 1.0.0
task: classification
framework: {name: fake}
inputs: [{type: image, processing: {decode: , resize: {dimensions: [8, 8]}, mean: 127.5, layout: NCHW}}]
outputs: [{type: logits, processing: {softmax: }}]
source: {graph_path: toy.json}
"""
DATASET = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\nsources: [{url: pictures}]\n"
ANYBODY = Acceptance({}, anybody=True)


class Home:
    def __init__(self, place: Path) -> None:
        self.settings = Settings(place, place.parent / "cache")
        self.store = Store(self.settings)
        self.ring = Keyring(place)
        self.signer = self.ring.own()


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Home, Record, Path]]:
    """A home with a record, and the record's bundle."""
    place = tmp_path_factory.mktemp("origin")
    for number in range(12):
        folder = place / "pictures" / f"class{number % 3}"
        folder.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (9 + number, 9), (number * 20, 10, 90)).save(folder / f"{number}.png")
    (place / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    (place / "toy.yml").write_text(MODEL)
    (place / "pictures.yml").write_text(DATASET)
    home = Home(place / "home")
    options = Options(timed_runs=1, warm_up_runs=1)
    record = evaluate(place / "toy.yml", place / "pictures.yml", options, settings=home.settings)
    pack(record, home.store, place / "bundle.zip", home.signer)
    yield home, record, place / "bundle.zip"
    home.store.close()


@pytest.fixture
def make_home(tmp_path: Path) -> Iterator[Callable[[str], Home]]:
    made: list[Home] = []

    def make(name: str) -> Home:
        made.append(Home(tmp_path / name))
        return made[-1]

    yield make
    for each in made:
        assert not list((each.store.home / "records").glob("draft-*"))
        each.store.close()


def change(bundle: Path, destination: Path, **files: bytes | None) -> Path:
    """The bundle with files replaced, added or (None) left out."""
    with zipfile.ZipFile(bundle) as inside, zipfile.ZipFile(destination, "w") as outside:
        outside.comment = inside.comment
        content = {name: inside.read(name) for name in inside.namelist()}
        for name, data in {**content, **files}.items():
            if data is not None:
                outside.writestr(name, data)
    return destination


def test_a_record_goes_from_one_home_to_another_and_is_the_same(
    origin: tuple[Home, Record, Path], make_home: Callable
) -> None:
    home, record, bundle = origin
    there = make_home("there")
    taken = receive(there.store, bundle, Acceptance({home.signer.key: "lab"}), "a friend")
    assert taken.is_new and taken.record == record == there.store.get(record.id)
    assert there.store.samples(record).equals(home.store.samples(record))
    assert there.store.list()[0]["headline"] == home.store.list()[0]["headline"]
    found = origin_of(there.store.database, record.id)
    assert found is not None and found.source == "a friend" and list(found.signatures) == [home.signer.key]
    assert manifests_of(record, there.store) == {"model": MODEL, "dataset": DATASET}
    assert record.id in write_report(record, there.store, None, "md")  # type: ignore[arg-type]


def test_what_came_from_elsewhere_is_not_taken_for_measured_here(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path
) -> None:
    """Its numbers may be anything, and so may the plan and the machine that it says it is of."""
    _, record, bundle = origin
    there, model, dataset = make_home("there"), bundle.parent / "toy.yml", bundle.parent / "pictures.yml"
    receive(there.store, bundle, ANYBODY, "a stranger")
    write_log(record, there.store, tmp_path / "log.yml")
    ours, differences = replay(tmp_path / "log.yml", model=model, dataset=dataset, settings=there.settings)
    assert ours.id != record.id and ours.plan_digest == record.plan_digest and differences.is_same
    options = Options(timed_runs=1, warm_up_runs=1)
    assert evaluate(model, dataset, options, settings=there.settings).id == ours.id


def test_twice_is_once(origin: tuple[Home, Record, Path], make_home: Callable) -> None:
    home, record, bundle = origin
    there = make_home("there")
    assert [receive(there.store, bundle, ANYBODY, "x").is_new for _ in range(2)] == [True, False]
    assert receive(home.store, bundle, ANYBODY, "x").is_new is False  # where it was made


def test_who_signed_first_is_known_behind_a_server_that_passed_it_on(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path
) -> None:
    home, record, bundle = origin
    hub, third = make_home("hub"), make_home("third")
    receive(hub.store, bundle, ANYBODY, "x")
    pack(record, hub.store, tmp_path / "again.zip", hub.signer)
    taken = receive(third.store, tmp_path / "again.zip", Acceptance({home.signer.key: "lab"}), "hub")
    assert set(taken.signers) == {home.signer.key, hub.signer.key}


def test_the_same_record_is_the_same_bytes(origin: tuple[Home, Record, Path], tmp_path: Path) -> None:
    home, record, bundle = origin
    pack(record, home.store, tmp_path / "b.zip", home.signer)
    assert (tmp_path / "b.zip").read_bytes() == bundle.read_bytes()


def test_strangers_are_refused_and_named(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path
) -> None:
    home, record, bundle = origin
    there = make_home("there")
    with pytest.raises(UnknownSigner, match=home.signer.key):
        receive(there.store, bundle, Acceptance({there.signer.key: "me"}), "x")
    pack(record, home.store, tmp_path / "unsigned.zip", None)
    home.store.export(record, tmp_path / "plain.zip")
    for unsigned in ("unsigned.zip", "plain.zip"):
        with pytest.raises(UnknownSigner, match="nobody has signed"):
            receive(there.store, tmp_path / unsigned, Acceptance({home.signer.key: "lab"}), "x")
    assert there.store.list() == []
    assert receive(there.store, tmp_path / "plain.zip", ANYBODY, "x").signers == ()
    kept = origin_of(there.store.database, record.id)
    assert kept is not None and kept.source == "x" and not kept.signatures  # it is known to be no record of ours


def test_one_byte_anywhere_is_found(origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path) -> None:
    home, _, bundle = origin
    there, whose = make_home("there"), Acceptance({home.signer.key: "lab"})
    whole, wrong = bundle.read_bytes(), tmp_path / "wrong.zip"
    step = max(1, len(whole) // 400)
    for place in [*range(0, len(whole), step), *range(len(whole) - 120, len(whole))]:
        wrong.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(MLModelScopeError):
            receive(there.store, wrong, whose, "x")
    wrong.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UsageError):
        receive(there.store, wrong, whose, "x")
    assert there.store.list() == []


def reseal(path: Path) -> Path:
    from mlmodelscope.hub.pack import _seal

    _seal(path)
    return path


def test_whoever_seals_it_again_has_not_signed_it(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path
) -> None:
    """A thief may pack as we do; even who takes unsigned bundles in does not take wrongly signed ones."""
    home, record, bundle = origin
    there = make_home("there")
    other = record.model_copy(update={"failed": 1}).model_dump_json().encode()
    with zipfile.ZipFile(bundle) as inside:
        statement, signatures = inside.read("bundle.json"), inside.read("signatures.json")
    wrong = json.loads(statement)
    wrong["files"]["record.json"]["sha256"] = "0" * 64
    odd = json.dumps(json.loads(statement), indent=1).encode()
    doubled = json.loads(signatures)
    doubled["signatures"] *= 2
    evil: list[tuple[dict[str, bytes | None], str]] = [
        ({"record.json": other}, "not what was signed"),
        ({"extra.parquet": b"x"}, "other files"),
        ({"samples.parquet": None}, "other files"),
        ({"bundle.json": json.dumps(wrong, sort_keys=True, separators=(",", ":")).encode()}, "is wrong"),
        ({"bundle.json": odd}, "not spelled"),
        ({"bundle.json": b"{}"}, "cannot be read"),
        ({"signatures.json": b"[]"}, "cannot be read"),
        ({"signatures.json": None}, "no signatures.json"),
        ({"signatures.json": json.dumps(doubled).encode()}, "two signatures"),
    ]
    for files, words in evil:
        path = reseal(change(bundle, tmp_path / "evil.zip", **files))
        with pytest.raises(UsageError, match=words):
            receive(there.store, path, ANYBODY, "x")
    assert there.store.list() == []


def test_an_id_that_is_taken_by_something_else_is_refused(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path
) -> None:
    home, record, bundle = origin
    there, liar = make_home("there"), make_home("liar")
    receive(there.store, bundle, ANYBODY, "x")
    other = record.model_copy(update={"notes": ("better than it was",)})
    shutil.copytree(home.store.folder(record.id), liar.store.files.place(record.id))
    liar.store.add(other)
    pack(other, liar.store, tmp_path / "other.zip", liar.signer)
    with pytest.raises(Clash, match="not the same"):
        receive(there.store, tmp_path / "other.zip", ANYBODY, "x")
    assert there.store.get(record.id) == record


def test_bombs_and_crowds_and_ways_outside_are_refused(
    origin: tuple[Home, Record, Path], make_home: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, _, bundle = origin
    there = make_home("there")
    for name in ("../evil", "/evil"):
        with pytest.raises(UsageError):
            receive(there.store, change(bundle, tmp_path / "e.zip", **{name: b"x", "bundle.json": None}), ANYBODY, "x")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("bundle.json", bytes(70 << 20))
    with pytest.raises(UsageError, match="too much space"):
        receive(there.store, tmp_path / "bomb.zip", ANYBODY, "x")
    with pytest.raises(UsageError, match="too much space"):
        receive(there.store, bundle, ANYBODY, "x", largest=100)
    monkeypatch.setattr(packed, "_FILES", 3)
    with pytest.raises(UsageError, match="too many files"):
        receive(there.store, bundle, ANYBODY, "x")
    assert there.store.list() == [] and not (tmp_path / "evil").exists()


def test_a_manifest_with_a_password_stays_at_home(tmp_path: Path, make_home: Callable, origin: tuple) -> None:
    _, record, _ = origin
    there = make_home("there")
    place = there.store.files.place(record.id) / "manifests"
    place.mkdir(parents=True)
    (place / "model.yml").write_text(MODEL + "# https://ada:secret@example.org/x\n")
    (place / "dataset.yml").write_text(DATASET)
    assert manifests_of(record, there.store) == {"dataset": DATASET}


def test_keys(tmp_path: Path) -> None:
    ring = Keyring(tmp_path / "home")
    signer = ring.own()
    assert ring.own().key == signer.key and (tmp_path / "home" / "keys" / "own").stat().st_mode & 0o777 == 0o600
    assert is_signed(b"x", signer.sign(b"x"), signer.key) and not is_signed(b"y", signer.sign(b"x"), signer.key)
    assert not is_signed(b"x", "nonsense", signer.key) and not is_signed(b"x", signer.sign(b"x"), "ed25519:short")
    ring.add("lab", signer.key)
    assert ring.known() == {signer.key: "lab"}
    other = Keyring(tmp_path / "other").own().key
    for name, key in (("lab", other), ("x y", other), ("lab2", "ed25519:x")):
        with pytest.raises(UsageError):
            ring.add(name, key)
    ring.remove("lab")
    with pytest.raises(UsageError, match="no key"):
        ring.remove("lab")
    (tmp_path / "home" / "keys" / "own").write_bytes(b"short")
    with pytest.raises(StoreError, match="is not a key"):
        ring.own()
