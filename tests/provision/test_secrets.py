"""Passwords, tokens and signatures in addresses: they fetch the files and are written nowhere."""

import base64
import socket
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from loopback import Answer, Handler, Server, guarded, redirect, status, whole

from mlmodelscope import Settings, Store, evaluate
from mlmodelscope.errors import ArtifactError
from mlmodelscope.hub.pack import pack
from mlmodelscope.provision import public
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.credentials import variable_of
from mlmodelscope.record.log import write_log
from mlmodelscope.record.record import Record
from mlmodelscope.report.report import write_report
from small_world import DATASET, MODEL, write_pictures

PASSWORD, TOKEN = "pass-of-the-user", "token-in-the-query"
BASIC = base64.b64encode(f"me:{PASSWORD}".encode()).decode()
NET = b'{"shape": [null, 3, 8, 8], "classes": 10}'


def demanding(answer: Answer) -> Answer:
    """Only for those who have both."""

    def ask(handler: Handler) -> None:
        given = parse_qs(urlsplit(handler.path).query)
        known = TOKEN in given.get("token", []) + given.get("X-Amz-Signature", [])
        guarded(answer if known else status(403), f"Basic {BASIC}")(handler)

    return ask


def zipped(folder: Path) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w") as inside:
        for path in sorted(folder.rglob("*.png")):
            inside.write(path, f"pictures/{path.relative_to(folder)}")
    return packed.getvalue()


@pytest.fixture
def private(server: Server, tmp_path: Path) -> tuple[Path, Path]:
    """A model and a dataset, as files, whose addresses hold a password and a token."""
    server.at("/net.json", demanding(whole(NET)))
    server.at("/data.zip", demanding(whole(zipped(write_pictures(tmp_path / "pictures")))))
    user = f"me:{PASSWORD}@"
    places = tmp_path / "private-model.yml", tmp_path / "private-dataset.yml"
    graph = server.url(f"/net.json?token={TOKEN}", user)
    data = server.url(f"/data.zip?X-Amz-Signature={TOKEN}#pictures/", user)
    places[0].write_text(MODEL.replace("toy.json", f'"{graph}"'))
    places[1].write_text(DATASET.replace("url: pictures", f'url: "{data}"'))
    return places


def written(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    """Every file, and what is inside of those that are packed."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                yield path, path.read_bytes()
                if zipfile.is_zipfile(path):
                    with zipfile.ZipFile(path) as packed:
                        yield from ((path / name, packed.read(name)) for name in packed.namelist())


def keep_all(record: Record, settings: Settings, place: Path) -> None:
    """Everything that can be made of a record."""
    store = Store(settings)
    for form in ("html", "md", "json", "csv"):
        (place / f"report.{form}").write_text(write_report(record, store, ArtifactStore(settings), form))
    write_log(record, store, place / "log.yml")
    store.export(record, place / "exported.zip")
    pack(record, store, place / "bundle.zip", None)
    store.close()


def test_secrets_of_addresses_are_written_nowhere(
    private: tuple[Path, Path], settings: Settings, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    record = evaluate(*private, settings=settings)
    assert record.samples == 12 and record.failed == 0
    out = tmp_path / "out"
    out.mkdir()
    keep_all(record, settings, out)
    assert record.plan.model.graph is not None and record.plan.model.graph.url.endswith("/net.json?…")
    for path, content in written(settings.home, settings.cache, out):
        for secret in (PASSWORD, TOKEN, BASIC):
            assert secret.encode() not in content, path
    told = "".join(capfd.readouterr())
    assert PASSWORD not in told and TOKEN not in told
    assert evaluate(*private, settings=settings).id == record.id


def test_an_old_record_with_secrets_is_read_without_them(private: tuple[Path, Path], settings: Settings) -> None:
    record = evaluate(*private, settings=settings)
    old = record.model_dump_json().replace("/net.json?…", f"/net.json?token={TOKEN}")
    assert TOKEN in old and TOKEN not in Record.model_validate_json(old).model_dump_json()
    assert Record.model_validate_json(old).plan.digest == record.plan.digest


def test_what_is_not_cached_any_more_is_not_asked_for_without_its_secret(
    private: tuple[Path, Path], settings: Settings, server: Server
) -> None:
    record = evaluate(*private, settings=settings)
    graph = record.plan.model.graph
    assert graph is not None
    asked = len(server.asked)
    bare = ArtifactStore(Settings(home=settings.home, cache=settings.home / "another-cache"))
    with pytest.raises(ArtifactError, match="held a secret, which is not stored"):
        bare.fetch(graph.url, f"sha256:{graph.sha256}")
    assert len(server.asked) == asked


def test_errors_do_not_repeat_a_secret(server: Server, settings: Settings, private: tuple[Path, Path]) -> None:
    server.at("/net.json", status(403))
    with pytest.raises(ArtifactError) as refusal:
        evaluate(*private, settings=settings)
    assert PASSWORD not in str(refusal.value) + str(refusal.value.hint) and TOKEN not in str(refusal.value)


def test_a_token_from_the_environment_goes_to_its_host_alone(
    server: Server, store: ArtifactStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable_of("127.0.0.1"), TOKEN)
    private = server.at("/net.onnx", guarded(whole(b"net"), f"Bearer {TOKEN}"))
    assert store.fetch(private).path.read_bytes() == b"net"
    other = server.at("/elsewhere", redirect(private.replace("127.0.0.1", "127.1")))
    with pytest.raises(ArtifactError, match="401"):
        store.fetch(other)
    assert variable_of("files.my-host.org") == "MLMODELSCOPE_BEARER_FILES_MY__HOST_ORG"


def test_netrc_is_used_for_the_host_that_it_names(server: Server, store: ArtifactStore, bare_machine: Path) -> None:
    private = server.at("/net.onnx", guarded(whole(b"net"), f"Basic {BASIC}"))
    netrc = bare_machine / ".netrc"
    netrc.write_text(f"default login me password {PASSWORD}\n")
    netrc.chmod(0o600)
    with pytest.raises(ArtifactError, match="401") as refusal:
        store.fetch(private)
    assert refusal.value.hint is not None and "MLMODELSCOPE_BEARER_127_0_0_1" in refusal.value.hint
    netrc.write_text(f"machine 127.0.0.1 login me password {PASSWORD}\n")
    assert store.fetch(private).path.read_bytes() == b"net"


def test_this_machines_credentials_are_not_for_strangers(
    server: Server, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable_of("127.0.0.1"), TOKEN)
    monkeypatch.setattr(public, "connect", lambda host, port, timeout: socket.create_connection((host, port), timeout))
    private = server.at("/net.onnx", guarded(whole(b"net"), f"Bearer {TOKEN}"))
    strangers = Settings(home=settings.home, cache=settings.cache, public_only=True)
    with pytest.raises(ArtifactError, match="401"):
        ArtifactStore(strangers).fetch(private)
