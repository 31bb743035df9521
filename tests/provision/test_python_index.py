"""A package index on the loopback interface, in both languages that indexes speak."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Answer, Server, guarded, redirect, status, whole
from packages import html_index, json_index, make_tar, make_zip

from mlmodelscope.errors import ArtifactError, ChecksumError, OfflineError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.python_index import IndexSettings, find_package_file
from mlmodelscope.settings import Settings

WHEEL = make_zip({"my_data/a.bin": b"a", "my_data/sub/b.bin": b"b"})
SOURCE = make_tar({"my-data-1.0/data/a.bin": b"source", "my-data-1.0/setup.py": b"raise SystemExit('never run')"})
FILES = {"my_data-1.0-py3-none-any.whl": WHEEL, "my-data-1.0.tar.gz": SOURCE}
HTML, JSON = "text/html", "application/vnd.pypi.simple.v1+json"


@pytest.fixture
def index(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple/"))
    for name, body in FILES.items():
        server.at(f"/files/{name}", whole(body))
    server.at("/simple/my-data/", whole(html_index(FILES), kind=HTML))
    return server


def page(kind: str) -> Answer:
    return whole(json_index(FILES) if kind == JSON else html_index(FILES), kind=kind)


@pytest.mark.parametrize("kind", [HTML, JSON, "application/vnd.pypi.simple.v1+html", "application/json", "text/plain"])
@pytest.mark.parametrize("name", ["my-data", "My_Data", "my.data"])
def test_a_file_in_a_wheel_is_found_in_every_kind_of_index(
    index: Server, store: ArtifactStore, kind: str, name: str
) -> None:
    body = json_index(FILES) if kind.endswith("json") else html_index(FILES)
    index.at("/simple/my-data/", whole(body, kind=kind))
    assert store.fetch(f"pypi:{name}==1.0/my_data/a.bin").path.read_bytes() == b"a"
    assert index.paths == ["/simple/my-data/", "/files/my_data-1.0-py3-none-any.whl"]


def test_a_path_that_begins_with_name_and_version_lies_in_the_source(index: Server, store: ArtifactStore) -> None:
    assert store.fetch("pypi:my-data==1.0/my-data-1.0/data/a.bin").path.read_bytes() == b"source"


def test_a_folder_comes_out_of_a_package(index: Server, store: ArtifactStore) -> None:
    path = store.fetch("pypi:my-data==1.0/my_data/").path
    assert {str(file.relative_to(path)) for file in path.rglob("*.bin")} == {"a.bin", "sub/b.bin"}


@pytest.mark.parametrize("version", ["1", "1.0", "1.0.0", "v1.0"])
def test_a_release_has_several_spellings(index: Server, store: ArtifactStore, version: str) -> None:
    assert store.fetch(f"pypi:my-data=={version}/my_data/a.bin").path.read_bytes() == b"a"


@pytest.mark.parametrize("version", ["1.1", "10", "1.0.1", "1.0rc1", "1.0.post1"])
def test_another_version_is_not_taken(index: Server, store: ArtifactStore, version: str) -> None:
    with pytest.raises(ArtifactError, match="it lists other versions only"):
        store.fetch(f"pypi:my-data=={version}/my_data/a.bin")


def test_a_mirror_that_lags_is_asked_once_more(index: Server, store: ArtifactStore) -> None:
    older = json_index({name.replace("1.0", "0.9"): body for name, body in FILES.items()})
    index.at("/simple/my-data/", whole(older, kind=JSON), whole(json_index(FILES), kind=JSON))
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


def test_a_folder_of_other_packages_has_no_other_version(
    server: Server, store: ArtifactStore, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple/"))
    with pytest.raises(ArtifactError, match="nobody has it"):
        store.fetch("pypi:their-data==1.0/their_data/a.bin")


@pytest.mark.parametrize("make", [html_index, json_index])
def test_the_checksum_that_the_index_promises_is_checked(
    index: Server, store: ArtifactStore, leftovers: Callable[[], list[str]], make: Callable[..., bytes]
) -> None:
    index.at("/simple/my-data/", whole(make(FILES), kind=JSON if make is json_index else HTML))
    index.at("/files/my_data-1.0-py3-none-any.whl", whole(make_zip({"my_data/a.bin": b"evil"})))
    with pytest.raises(ChecksumError, match="my_data-1.0-py3-none-any.whl does not have the sha256"):
        store.fetch("pypi:my-data==1.0/my_data/a.bin")
    assert leftovers() == []


def test_wheels_for_all_platforms_are_preferred(server: Server) -> None:
    names = ["d-1.0-cp311-cp311-linux_x86_64.whl", "d-1.0-py3-none-any.whl", "d-1.0-1-cp39-cp39-win32.whl"]
    server.at("/simple/d/", whole(html_index({name: b"" for name in names}), kind=HTML))
    found = find_package_file("d", "1.0", "d/x", IndexSettings((server.url("/simple"),), (), None))
    assert found.name == "d-1.0-py3-none-any.whl"


def test_extra_indexes_are_asked_and_a_silent_one_does_not_matter(
    index: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index.url("/broken"))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{index.url('/empty')} {index.url('/simple')}")
    index.at("/broken/my-data/", status(500))
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


def test_what_each_place_said_is_told_without_passwords(
    index: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", index.url("/broken", "me:s3cr3t@"))
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "http://127.0.0.1:9/closed")
    index.at("/broken/my-data/", status(403))
    with pytest.raises(ArtifactError, match=r"/broken: 403 Forbidden; .*/closed: .*refused") as refusal:
        store.fetch("pypi:my-data==1.0/my_data/a.bin")
    assert "s3cr3t" not in str(refusal.value)


@pytest.mark.parametrize("how", ["in the address", "in .netrc"])
def test_a_protected_index_is_told_the_password_for_its_files_too(
    index: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    secret = "Basic " + base64.b64encode(b"me:pass word").decode()
    index.at("/simple/my-data/", guarded(page(JSON), secret))
    index.at("/files/my_data-1.0-py3-none-any.whl", guarded(whole(WHEEL), secret))
    if how == "in the address":
        monkeypatch.setenv("PIP_INDEX_URL", index.url("/simple", "me:pass%20word@"))
    else:
        (Path.home() / ".netrc").write_text('machine 127.0.0.1 login me password "pass word"\n')
        (Path.home() / ".netrc").chmod(0o600)
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


def test_a_certificate_of_the_users_own_is_trusted(
    secure_server: Server, certificate: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", secure_server.url("/simple"))
    secure_server.at("/simple/my-data/", page(HTML))
    secure_server.at("/files/my_data-1.0-py3-none-any.whl", whole(WHEEL))
    with pytest.raises(ArtifactError, match="certificate is not trusted"):
        store.fetch("pypi:my-data==1.0/my_data/a.bin")
    monkeypatch.setenv("PIP_CERT", str(certificate))
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


def test_an_index_may_redirect_and_give_a_base(index: Server, store: ArtifactStore) -> None:
    body = b'<html><head><base href="/files/"></head><a href="my_data-1.0-py3-none-any.whl">x</a></html>'
    index.at("/simple/my-data/", redirect("/elsewhere/deep/"))
    index.at("/elsewhere/deep/", whole(body, kind=HTML))
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"files": 3}', b'{"files": [3]}', b'{"files": [{"url": "x"}]}', b"{" * 5000]
)
def test_an_answer_that_makes_no_sense_is_an_error(index: Server, store: ArtifactStore, body: bytes) -> None:
    index.at("/simple/my-data/", whole(body, kind=JSON))
    with pytest.raises(ArtifactError, match="PEP 691"):
        store.fetch("pypi:my-data==1.0/my_data/a.bin")


def test_a_page_from_the_network_cannot_name_files_of_this_machine(
    index: Server, store: ArtifactStore, tmp_path: Path
) -> None:
    (tmp_path / "my_data-1.0-py3-none-any.whl").write_bytes(WHEEL)
    here = (tmp_path / "my_data-1.0-py3-none-any.whl").as_uri()
    entry = {"filename": "my_data-1.0-py3-none-any.whl", "url": here, "hashes": {}}
    index.at("/simple/my-data/", whole(json.dumps({"files": [entry]}).encode(), kind=JSON))
    with pytest.raises(ArtifactError, match="no file of my-data 1.0"):
        store.fetch("pypi:my-data==1.0/my_data/a.bin")


def test_a_file_name_from_an_index_is_no_path(index: Server, store: ArtifactStore) -> None:
    name = "my_data-1.0-py3-none-../../../../../evil.whl"
    entry = {"filename": name, "url": "/files/my_data-1.0-py3-none-any.whl", "hashes": {}}
    index.at("/simple/my-data/", whole(json.dumps({"files": [entry]}).encode(), kind=JSON))
    with pytest.raises(ArtifactError, match="nobody has it"):
        store.fetch("pypi:my-data==1.0/my_data/a.bin")


@pytest.fixture
def wheels(plain_path: Path, bare_machine: Path) -> Path:
    """Where pip would find them: it cuts a path at its spaces."""
    folder = plain_path / "wheels"
    folder.mkdir()
    for name, body in FILES.items():
        (folder / name).write_bytes(body)
    return folder


@pytest.mark.parametrize("spelling", ["path", "file:", "page", "relative"])
def test_a_folder_of_packages_needs_no_network(
    wheels: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch, spelling: str
) -> None:
    place = str(wheels) if spelling == "path" else wheels.as_uri()
    if spelling == "page":
        (wheels / "links.html").write_bytes(html_index(FILES, ""))
        place = str(wheels / "links.html")
    elif spelling == "relative":
        monkeypatch.chdir(wheels.parent)
        place = "wheels"
    monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels}/nothing {place}")
    offline = ArtifactStore(replace(settings, offline=True))
    assert offline.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"
    assert sorted(path.name for path in wheels.iterdir() if path.suffix != ".html") == sorted(FILES)


def test_where_a_folder_has_it_no_index_is_asked(
    wheels: Path, index: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    store.fetch("pypi:my-data==1.0/my_data/a.bin")
    assert index.paths == []


@pytest.mark.parametrize("with_page", [True, False])
def test_an_index_may_be_a_folder(
    wheels: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, with_page: bool
) -> None:
    root = wheels.parent / "simple"
    root.mkdir()
    wheels.rename(root / "my-data")
    if with_page:
        (root / "my-data/index.html").write_bytes(html_index(FILES, ""))
    monkeypatch.setenv("PIP_INDEX_URL", root.as_uri())
    assert store.fetch("pypi:my-data==1.0/my_data/a.bin").path.read_bytes() == b"a"


def test_offline_no_index_is_asked(index: Server, settings: Settings) -> None:
    with pytest.raises(OfflineError, match="pypi:my-data==1.0/my_data/a.bin is not in the cache"):
        ArtifactStore(replace(settings, offline=True)).fetch("pypi:my-data==1.0/my_data/a.bin")
    assert index.paths == []


def test_a_file_that_was_damaged_comes_out_of_its_package_again_offline(index: Server, settings: Settings) -> None:
    """The package itself is kept; where that is damaged as well, there is no good copy, and nothing is made up."""
    reference = "pypi:my-data==1.0/my_data/a.bin"
    path = ArtifactStore(settings).fetch(reference).path
    offline = ArtifactStore(replace(settings, offline=True))
    spoil(path)
    assert offline.fetch(reference).path.read_bytes() == b"a"
    for file in (settings.cache / "files").rglob("*"):
        if file.is_file():
            spoil(file)
    with pytest.raises(OfflineError, match="not in the cache"):
        offline.fetch(reference)


def spoil(path: Path) -> None:
    path.chmod(0o644)
    path.write_bytes(b"damaged")


def test_another_file_of_a_package_that_was_fetched_is_there_offline(index: Server, settings: Settings) -> None:
    ArtifactStore(settings).fetch("pypi:my-data==1.0/my_data/a.bin")
    offline = ArtifactStore(replace(settings, offline=True))
    assert offline.fetch("pypi:my-data==1.0/my_data/sub/b.bin").path.read_bytes() == b"b"


def test_nothing_of_a_package_is_run(index: Server, store: ArtifactStore) -> None:
    assert b"never run" in store.fetch("pypi:my-data==1.0/my-data-1.0/setup.py").path.read_bytes()
