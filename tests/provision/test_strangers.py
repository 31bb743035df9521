"""What a stranger may have fetched here: what they could have got by themselves, and what the operator lists."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from loopback import Server, whole
from packages import html_index, make_npm, make_zip, npm_dist

from mlmodelscope.errors import ArtifactError
from mlmodelscope.manifest.strangers import check_package, check_store
from mlmodelscope.provision import npm_registry, origin
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.cache import Cache, public_mark, uploads_of
from mlmodelscope.provision.python_index import IndexSettings
from mlmodelscope.settings import Settings

WHEEL = make_zip({"my_data/a.bin": b"a"})
REFERENCE = "pypi:my-data==1.0/my_data/a.bin"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def strangers(settings: Settings) -> Settings:
    return replace(settings, public_only=True)


@pytest.fixture
def index(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """This machine's own index, which has a package that the public ones do not have."""
    monkeypatch.setenv("PIP_INDEX_URL", server.url("/simple/"))
    server.at("/files/my_data-1.0-py3-none-any.whl", whole(WHEEL))
    page = html_index({"my_data-1.0-py3-none-any.whl": WHEEL})
    server.at("/simple/my-data/", whole(page, kind="text/html"))
    server.at("/public/my-data/", whole(b"<html></html>", kind="text/html"))
    public = IndexSettings((server.url("/public/"),), (), None)
    monkeypatch.setattr(origin, "PUBLIC_INDEX", public)
    return server


@pytest.mark.parametrize(
    "reference",
    [
        "local:///etc/hostname",
        "dir://etc/hostname",
        "simplecache::https://host.example/file",
        "filecache::local:///etc/hostname",
        "zip://a.txt::https://host.example/a.zip",
        "reference://x",
        "s3://bucket/file",
        "gs://bucket/file",
        "memory://x",
    ],
)
def test_only_listed_schemes_are_opened(strangers: Settings, reference: str, bare_machine: Path) -> None:
    for checksum in (None, f"sha256:{'0' * 64}"):
        with pytest.raises(ArtifactError, match="is not fetched for somebody on another machine"):
            ArtifactStore(strangers).fetch(reference, checksum)


def test_an_object_store_may_be_opened_to_strangers(strangers: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = []

    def download(url: str, target: Path, *_: object) -> None:
        fetched.append(url)
        target.write_bytes(b"net")

    monkeypatch.setattr(origin, "download_fsspec", download)
    store = ArtifactStore(replace(strangers, stores=("s3://models/public",)))
    assert store.fetch("s3://models/public/net.onnx").path.read_bytes() == b"net"
    for other in ("s3://models/public-not/x", "s3://models/public/../x", "s3://other/x", "s3://models/public/a::b"):
        with pytest.raises(ArtifactError, match="is not fetched"):
            store.fetch(other)
    assert fetched == ["s3://models/public/net.onnx"]


def test_what_we_fetched_is_not_given_to_whoever_knows_its_digest(
    server: Server, settings: Settings, strangers: Settings
) -> None:
    private = server.at("/private", whole(b"ours"))
    digest = ArtifactStore(settings).fetch(private).sha256
    for url in (private, server.url("/another")):
        with pytest.raises(ArtifactError, match="not a public one"):
            ArtifactStore(strangers).fetch(url, f"sha256:{digest}")
    assert ArtifactStore(strangers).held(digest) is None
    with pytest.raises(ArtifactError, match="not on this machine"):
        ArtifactStore(strangers).fetch(f"artifact:sha256:{digest}/x")
    assert ArtifactStore(settings).held(digest) is not None


def test_what_this_machines_own_manifests_name_is_for_strangers(
    server: Server, settings: Settings, strangers: Settings
) -> None:
    named = server.at("/named", whole(b"ours"))
    digest = ArtifactStore(settings).fetch(named).sha256
    store = ArtifactStore(strangers)
    store.allow([named])
    assert store.fetch(named, f"sha256:{digest}").path.read_bytes() == b"ours"
    assert ArtifactStore(strangers).held(digest) is not None


def test_uploaded_files_are_for_strangers(settings: Settings, strangers: Settings, tmp_path: Path) -> None:
    for place, digest in ((uploads_of(settings), sha256(b"here")), (Cache(settings.cache), sha256(b"there"))):
        draft = tmp_path / digest
        draft.write_bytes(b"here" if place.root != settings.cache else b"there")
        place.put_file(draft, digest)
        place.remember(public_mark(digest), sha256=digest)  # as an agent does when it fetches one
        assert ArtifactStore(strangers).fetch(f"artifact:sha256:{digest}").sha256 == digest


def test_a_package_of_our_own_index_is_kept_apart_from_what_strangers_get(
    index: Server, settings: Settings, strangers: Settings
) -> None:
    assert ArtifactStore(settings).fetch(REFERENCE).path.read_bytes() == b"a"
    limited = ArtifactStore(replace(strangers, packages=("public",)))
    for checksum in (None, f"sha256:{sha256(b'a')}"):
        with pytest.raises(ArtifactError, match="no file of my-data 1.0"):
            limited.fetch(REFERENCE, checksum)


@pytest.mark.parametrize("packages", [(), ("pypi:my-data",), ("pypi:My_*", "public"), ("npm:x", "pypi:*")])
def test_packages_that_are_listed_come_from_our_own_index(
    index: Server, strangers: Settings, packages: tuple[str, ...]
) -> None:
    assert ArtifactStore(replace(strangers, packages=packages)).fetch(REFERENCE).path.read_bytes() == b"a"


def test_packages_that_are_not_listed_are_refused(index: Server, settings: Settings, strangers: Settings) -> None:
    for store in (replace(strangers, packages=("npm:my-data",)), replace(strangers, packages=("pypi:other",))):
        with pytest.raises(ArtifactError, match="not among the packages"):
            ArtifactStore(store).fetch(REFERENCE)
    assert index.asked == []
    own = replace(settings, packages=("pypi:other",))
    assert ArtifactStore(own).fetch(REFERENCE).path.read_bytes() == b"a"  # the list is for strangers


def test_the_public_npm_registry_is_asked_for_strangers(
    server: Server, strangers: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = make_npm({"a.bin": b"public"})
    tarball = server.at("/p.tgz", whole(body))
    described = {"dist": npm_dist(tarball, body)}
    server.at("/public/p/1.0.0", whole(_json(described), kind="application/json"))
    monkeypatch.setenv("npm_config_registry", server.url("/own/"))
    monkeypatch.setattr(npm_registry, "_DEFAULT", server.url("/public/"))
    store = ArtifactStore(replace(strangers, packages=("public",)))
    assert store.fetch("npm:p@1.0.0/a.bin").path.read_bytes() == b"public"
    assert not [path for path in server.paths if path.startswith("/own")]


def _json(value: object) -> bytes:
    return json.dumps(value).encode()


@pytest.mark.parametrize(
    ("check", "wrong"),
    [
        (check_store, "file:///x"),
        (check_store, "s3://"),
        (check_store, "s3"),
        (check_package, "pypi"),
        (check_package, "https://x"),
    ],
)
def test_lists_of_what_strangers_may_name_are_checked(check: Callable[[str], str], wrong: str) -> None:
    with pytest.raises(ValueError, match="is not"):
        check(wrong)
