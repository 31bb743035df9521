"""An npm registry on the loopback interface, and the settings that lead to it."""

import base64
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback import Server, guarded, status, whole
from packages import make_npm, npm_dist

from mlmodelscope.errors import ArtifactError, ChecksumError
from mlmodelscope.provision.artifact import ArtifactStore

TARBALL = make_npm({"data/a.bin": b"a", "index.js": b"process.exit(1)"})


def described(tarball: str, body: bytes = TARBALL, **changes: str | None) -> bytes:
    dist = {key: value for key, value in {**npm_dist(tarball, body), **changes}.items() if value is not None}
    return json.dumps({"name": "data", "dist": dist}).encode()


@pytest.fixture
def registry(server: Server) -> Server:
    server.at("/npm/data/1.0.0", whole(described(server.url("/npm/data/-/data-1.0.0.tgz"))))
    server.at("/npm/data/-/data-1.0.0.tgz", whole(TARBALL))
    (Path.home() / ".npmrc").write_text(f"; mine\nregistry = {server.url('/npm/')}\n")
    return server


def fetch(store: ArtifactStore, reference: str = "npm:data@1.0.0/data/a.bin") -> bytes:
    return store.fetch(reference).path.read_bytes()


def test_a_file_comes_out_of_a_package(registry: Server, store: ArtifactStore) -> None:
    assert fetch(store) == b"a"
    assert fetch(store, "npm:data@1.0.0/index.js") == b"process.exit(1)"


def test_a_scope_may_have_a_registry_of_its_own(registry: Server, store: ArtifactStore) -> None:
    with (Path.home() / ".npmrc").open("a") as file:
        file.write(f"@my:registry={registry.url('/other')}\n")
    registry.at("/other/@my%2Fdata/1.0.0", whole(described(registry.url("/npm/data/-/data-1.0.0.tgz"))))
    assert fetch(store, "npm:@my/data@1.0.0/data/a.bin") == b"a"


def test_a_registry_without_single_versions_is_asked_for_all(registry: Server, store: ArtifactStore) -> None:
    one = json.loads(described(registry.url("/npm/data/-/data-1.0.0.tgz")))
    registry.at("/npm/data/1.0.0", status(404))
    registry.at("/npm/data", whole(json.dumps({"versions": {"1.0.0": one}}).encode()))
    assert fetch(store) == b"a"
    with pytest.raises(ArtifactError, match="answer for data@2.0.0 cannot be read"):
        fetch(store, "npm:data@2.0.0/data/a.bin")


def test_a_mirror_that_hands_on_the_public_addresses_is_asked_itself(registry: Server, store: ArtifactStore) -> None:
    public = "https://registry.npmjs.org/data/-/data-1.0.0.tgz"
    registry.at("/npm/data/1.0.0", whole(described(public)))
    assert fetch(store) == b"a"


@pytest.mark.parametrize(("key", "kind", "given"), [("_authToken", "Bearer", "t0k3n"), ("_auth", "Basic", "bWU6eA==")])
@pytest.mark.parametrize("level", ["/npm/", "/"])
def test_a_token_is_sent_for_the_description_and_the_package(
    registry: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch, key: str, kind: str, given: str, level: str
) -> None:
    monkeypatch.setenv("MY_TOKEN", given)
    with (Path.home() / ".npmrc").open("a") as file:
        file.write(f"//{registry.host}{level}:{key}=${{MY_TOKEN}}\n")
    dist = whole(described(registry.url("/npm/data/-/data-1.0.0.tgz")))
    registry.at("/npm/data/1.0.0", guarded(dist, f"{kind} {given}"))
    registry.at("/npm/data/-/data-1.0.0.tgz", guarded(whole(TARBALL), f"{kind} {given}"))
    assert fetch(store) == b"a"


def test_a_token_goes_to_its_own_host_only(registry: Server, store: ArtifactStore) -> None:
    other = Server()
    try:
        tarball = other.at("/data.tgz", whole(TARBALL))
        registry.at("/npm/data/1.0.0", whole(described(tarball)))
        with (Path.home() / ".npmrc").open("a") as file:
            file.write(f"//{registry.host}/npm/:_authToken=t0k3n\n")
        assert fetch(store) == b"a"
        assert other.asked[0].headers["Authorization"] is None
    finally:
        other.close()


def test_the_environment_wins(registry: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", registry.url("/npm", "me:pass@"))
    (Path.home() / ".npmrc").write_text("registry=http://127.0.0.1:9/\n")
    secret = "Basic " + base64.b64encode(b"me:pass").decode()
    registry.at("/npm/data/-/data-1.0.0.tgz", guarded(whole(TARBALL), secret))
    assert fetch(store) == b"a"


def test_settings_may_lie_elsewhere(
    registry: Server, store: ArtifactStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.rename(Path.home() / ".npmrc", tmp_path / "npmrc")
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / "npmrc"))
    assert fetch(store) == b"a"


def test_a_certificate_of_the_users_own_is_trusted(
    secure_server: Server, certificate: Path, store: ArtifactStore
) -> None:
    secure_server.at("/data/1.0.0", whole(described(secure_server.url("/data.tgz"))))
    secure_server.at("/data.tgz", whole(TARBALL))
    (Path.home() / ".npmrc").write_text(f'registry={secure_server.url("/")}\ncafile="{certificate}"\n')
    assert fetch(store) == b"a"


@pytest.mark.parametrize("changes", [{"integrity": None}, {"integrity": "sha512-???"}, {"integrity": "md4-xx"}, {}])
def test_the_promised_digest_is_checked(
    registry: Server, store: ArtifactStore, leftovers: Callable[[], list[str]], changes: dict[str, None]
) -> None:
    tarball = registry.url("/npm/data/-/data-1.0.0.tgz")
    registry.at("/npm/data/1.0.0", whole(described(tarball, **changes)))
    registry.at("/npm/data/-/data-1.0.0.tgz", whole(make_npm({"data/a.bin": b"evil"})))
    with pytest.raises(ChecksumError, match="checksum that the index promises"):
        fetch(store)
    assert leftovers() == []


@pytest.mark.parametrize("body", [b"", b"[]", b"3", b"{}", b'{"dist": 3}', b'{"dist": {"tarball": "x"}}', b"\xff"])
def test_an_answer_that_makes_no_sense_is_an_error(registry: Server, store: ArtifactStore, body: bytes) -> None:
    registry.at("/npm/data/1.0.0", whole(body))
    with pytest.raises(ArtifactError, match="answer for data@1.0.0 cannot be read"):
        fetch(store)


@pytest.mark.parametrize("tarball", ["file:///etc/passwd", "ftp://127.0.0.1/x.tgz", "/etc/passwd"])
def test_a_registry_cannot_name_files_of_this_machine(registry: Server, store: ArtifactStore, tarball: str) -> None:
    registry.at("/npm/data/1.0.0", whole(described(tarball)))
    with pytest.raises(ArtifactError, match="cannot be read"):
        fetch(store)


def test_an_unknown_package_is_named(registry: Server, store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match="answered 404 Not Found for nothing@1.0.0"):
        fetch(store, "npm:nothing@1.0.0/x")


def test_a_registry_that_is_not_there_is_named_without_password(
    bare_machine: Path, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://me:s3cr3t@127.0.0.1:9/")
    with pytest.raises(ArtifactError, match=r"registry at http://127\.0\.0\.1:9/ cannot be reached") as refusal:
        fetch(store)
    assert "s3cr3t" not in str(refusal.value)
