"""From a reference to the right file: verified, kept, found again."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Server, cut, status, whole
from packages import checksum, make_npm, make_tar, make_zip, npm_dist, sha256

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.settings import Settings

BODY = b"the weights of a network" * 100


def test_a_file_here_is_used_where_it_lies(store: ArtifactStore, tmp_path: Path) -> None:
    path = tmp_path / "net #1.onnx"
    path.write_bytes(BODY)
    found = store.fetch(str(path), checksum(BODY))
    assert (found.path, found.sha256) == (path, sha256(BODY))
    assert store.fetch(f"file://{tmp_path}/net%20%231.onnx").path == path


@pytest.mark.parametrize("algorithm", ["md5", "sha1", "sha256", "sha384"])
@pytest.mark.parametrize("is_local", [True, False])
def test_every_kind_of_checksum_is_checked(
    server: Server, store: ArtifactStore, tmp_path: Path, algorithm: str, is_local: bool
) -> None:
    (tmp_path / "net").write_bytes(BODY)
    reference = str(tmp_path / "net") if is_local else server.at("/net", whole(BODY))
    assert store.fetch(reference, checksum(BODY, algorithm)).sha256 == sha256(BODY)
    assert store.fetch(reference, checksum(BODY, algorithm).split(":")[1].upper()).sha256 == sha256(BODY)
    with pytest.raises(ChecksumError, match=f"wrong {algorithm} checksum of .*/net"):
        store.fetch(reference, checksum(b"other", algorithm))


def test_a_wrong_file_is_refused_and_nothing_of_it_stays(
    server: Server, store: ArtifactStore, leftovers: Callable[[], list[str]]
) -> None:
    url = server.at("/net", whole(b"not the weights"))
    with pytest.raises(ChecksumError) as refusal:
        store.fetch(url, checksum(BODY))
    assert f"expected {sha256(BODY)}\nsaw      {sha256(b'not the weights')}" in str(refusal.value)
    assert leftovers() == []


def test_a_server_that_announces_less_than_it_has_is_found_out(server: Server, store: ArtifactStore) -> None:
    with pytest.raises(ChecksumError):
        store.fetch(server.at("/net", status(200, BODY, Content_Length="100")), checksum(BODY))


def test_a_folder_has_a_digest_that_anybody_can_compute(store: ArtifactStore, tmp_path: Path) -> None:
    (tmp_path / "model/part").mkdir(parents=True)
    (tmp_path / "model/b").write_bytes(b"b")
    (tmp_path / "model/part/a").write_bytes(b"a")
    lines = f"{sha256(b'b')}  b\n{sha256(b'a')}  part/a\n"
    assert store.fetch(str(tmp_path / "model")).sha256 == sha256(lines.encode())


def test_what_was_fetched_is_not_fetched_again(server: Server, store: ArtifactStore) -> None:
    url = server.at("/net", whole(BODY))
    assert store.fetch(url) == store.fetch(url) == store.fetch(url, checksum(BODY))
    assert len(server.asked) == 1


def test_what_is_at_hand_is_known_without_fetching_it(server: Server, store: ArtifactStore, tmp_path: Path) -> None:
    url = server.at("/net", whole(BODY))
    assert not store.is_at_hand(url) and not store.is_at_hand(url, checksum(BODY)) and not server.asked
    store.fetch(url)
    assert store.is_at_hand(url) and store.is_at_hand(url, checksum(BODY))
    assert store.is_at_hand(str(tmp_path)) and not store.is_at_hand(str(tmp_path / "nothing"))
    assert not store.is_at_hand("no such scheme:// at all")


def test_the_cache_is_enough_offline(server: Server, settings: Settings) -> None:
    url = server.at("/net", whole(BODY))
    ArtifactStore(settings).fetch(url)
    offline = ArtifactStore(replace(settings, offline=True))
    assert offline.fetch(url).path.read_bytes() == BODY
    with pytest.raises(OfflineError, match="other is not in the cache"):
        offline.fetch(server.url("/other"))


def test_a_file_that_was_damaged_in_the_cache_is_fetched_again(server: Server, store: ArtifactStore) -> None:
    url = server.at("/net", whole(BODY))
    path = store.fetch(url, checksum(BODY)).path
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    assert store.fetch(url, checksum(BODY)).path.read_bytes() == BODY


def test_a_file_that_was_damaged_is_missed_offline(server: Server, settings: Settings) -> None:
    url = server.at("/net", whole(BODY))
    path = ArtifactStore(settings).fetch(url).path
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(OfflineError, match="not in the cache"):
        ArtifactStore(replace(settings, offline=True)).fetch(url)


def test_a_folder_that_was_tidied_in_the_cache_is_fetched_again(server: Server, store: ArtifactStore) -> None:
    reference = server.at("/data.zip", whole(make_zip({"images/1": b"1", "images/2": b"2"}))) + "#images/"
    path = store.fetch(reference).path
    (path / "1").unlink()
    assert sorted(os.listdir(store.fetch(reference).path)) == ["1", "2"]


@pytest.mark.parametrize("note", ["", "[]", "{}", '{"sha256": "../../../etc"}', '{"sha256": 3}'])
def test_a_damaged_note_only_costs_a_download(
    server: Server, store: ArtifactStore, settings: Settings, note: str
) -> None:
    url = server.at("/net", whole(BODY))
    store.fetch(url)
    for path in (settings.cache / "known").iterdir():
        path.write_text(note)
    assert store.fetch(url).path.read_bytes() == BODY


@pytest.mark.parametrize(
    ("member", "files"),
    [
        ("data/images/1.jpg", None),
        ("data/images/", {"1.jpg", "sub/2.jpg", "n.txt"}),
        ("data/images/*.jpg", {"1.jpg"}),
        ("data/*/*.txt", {"images/n.txt"}),
        ("*", {"top"}),
        ("/", {"top", "data/images/1.jpg", "data/images/sub/2.jpg", "data/images/n.txt"}),
    ],
)
@pytest.mark.parametrize("kind", ["data.zip", "data.tar", "data.tar.gz", "data.tar.bz2", "data.tar.xz"])
def test_a_member_a_folder_or_a_pattern_comes_out_of_an_archive(
    server: Server, store: ArtifactStore, kind: str, member: str, files: set[str] | None
) -> None:
    content = {"top": b"t", "data/images/1.jpg": b"1", "data/images/sub/2.jpg": b"2", "data/images/n.txt": b"n"}
    packed = make_zip(content) if kind.endswith("zip") else make_tar(content, "w:" + kind.rpartition("tar")[2][1:])
    path = store.fetch(f"{server.at('/' + kind, whole(packed))}#{member}").path
    assert (path.read_bytes() == b"1") if files is None else (names_below(path) == files)


def names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_an_archive_here_may_change(store: ArtifactStore, tmp_path: Path) -> None:
    archive = tmp_path / "data.zip"
    archive.write_bytes(make_zip({"net": b"one"}))
    assert store.fetch(f"{archive}#net").path.read_bytes() == b"one"
    archive.write_bytes(make_zip({"net": b"two"}))
    assert store.fetch(f"{archive}#net").path.read_bytes() == b"two"


def test_two_members_of_a_package_cost_one_download(server: Server, store: ArtifactStore) -> None:
    body = make_npm({"images": b"i", "labels": b"l"})
    server.at("/data/1.0.0", whole(npm_answer(server, body)))
    server.at("/data.tgz", whole(body))
    (Path.home() / ".npmrc").write_text(f"registry={server.url('/')}\n")
    assert store.fetch("npm:data@1.0.0/images").path.read_bytes() == b"i"
    assert store.fetch("npm:data@1.0.0/labels").path.read_bytes() == b"l"
    assert server.paths == ["/data/1.0.0", "/data.tgz"]


def npm_answer(server: Server, body: bytes) -> bytes:
    return json.dumps({"dist": npm_dist(server.url("/data.tgz"), body)}).encode()


def test_a_package_with_a_wrong_file_in_it_is_not_kept(
    server: Server, store: ArtifactStore, leftovers: Callable[[], list[str]]
) -> None:
    body = make_npm({"images": b"not the images"})
    server.at("/data/1.0.0", whole(npm_answer(server, body)))
    server.at("/data.tgz", whole(body))
    (Path.home() / ".npmrc").write_text(f"registry={server.url('/')}\n")
    with pytest.raises(ChecksumError):
        store.fetch("npm:data@1.0.0/images", checksum(b"the images"))
    assert leftovers() == []


def test_a_missing_member_is_named_with_a_suggestion(server: Server, store: ArtifactStore) -> None:
    url = server.at("/data.zip", whole(make_zip({"images/one.jpg": b"1"})))
    with pytest.raises(ArtifactError, match=r"data\.zip has no member `images/on\.jpg`") as refusal:
        store.fetch(url + "#images/on.jpg")
    assert refusal.value.hint == "did you mean `images/one.jpg`?"


def test_a_very_long_address_is_no_file_name(server: Server, store: ArtifactStore) -> None:
    server.at("/net", whole(BODY))
    assert store.fetch(server.url("/net?signature=" + "x" * 3000)).path.read_bytes() == BODY


@pytest.mark.parametrize("reference", ["/dev/zero", "/dev/null"])
def test_a_device_is_not_read(store: ArtifactStore, reference: str) -> None:
    with pytest.raises(ArtifactError, match="not a plain file"):
        store.fetch(reference)


@pytest.mark.parametrize("reference", ["nothing", "nothing.zip#x", "x" * 5000, "~nobody-here/x"])
def test_a_file_that_is_not_here_is_named(store: ArtifactStore, tmp_path: Path, reference: str) -> None:
    with pytest.raises(ArtifactError, match=reference[:20].partition("#")[0]):
        store.fetch(str(tmp_path / reference))


@pytest.mark.parametrize(("reference", "digest"), [("pypi:x", None), ("x", "sha256:short"), ("http://", None)])
def test_a_senseless_request_is_an_error_without_traceback(
    store: ArtifactStore, reference: str, digest: str | None
) -> None:
    with pytest.raises(ArtifactError):
        store.fetch(reference, digest)


def test_a_download_that_never_ends_well_leaves_only_what_can_be_resumed(
    server: Server, store: ArtifactStore, leftovers: Callable[[], list[str]]
) -> None:
    with pytest.raises(ArtifactError, match="after 10 of") as refusal:
        store.fetch(server.at("/net", cut(BODY, 10)))
    assert "resumes from there" in (refusal.value.hint or "")
    assert [Path(name).suffix for name in leftovers()] == [".json", ".part"]


def test_what_is_derived_is_made_once(store: ArtifactStore) -> None:
    made = []

    def make(draft: Path) -> None:
        made.append(1)
        draft.write_bytes(b"derived")

    assert store.derive("key", make) == store.derive("key", make)
    assert store.derive("key", make).read_bytes() == b"derived" and len(made) == 1


def test_what_could_not_be_derived_is_not_there(store: ArtifactStore, leftovers: Callable[[], list[str]]) -> None:
    def fail(draft: Path) -> None:
        draft.write_bytes(b"half")
        raise ArtifactError("no")

    with pytest.raises(ArtifactError, match="no"):
        store.derive("key", fail)
    assert leftovers() == []


def test_the_cache_may_be_deleted_at_any_time(server: Server, store: ArtifactStore, settings: Settings) -> None:
    url = server.at("/net", whole(BODY))
    store.fetch(url)
    shutil.rmtree(settings.cache)
    assert store.fetch(url).path.read_bytes() == BODY


def test_a_pattern_in_a_path_names_include(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError) as missing:
        ArtifactStore(Settings(home=tmp_path, cache=tmp_path)).fetch(str(tmp_path / "pictures" / "*.JPEG"))
    assert "`include: '*.JPEG'` in the dataset's manifest" in (missing.value.hint or "")
