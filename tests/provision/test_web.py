"""Redirects, passwords and refusals, asked of a real server."""

import base64
from pathlib import Path

import pytest
from loopback import Server, cut, guarded, redirect, status, whole

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.web import WebError, open_url, read_url

SECRET = "Basic " + base64.b64encode(b"me:s3cr3t@").decode()


def test_a_redirect_is_followed(server: Server, store: ArtifactStore) -> None:
    server.at("/new", whole(b"net"))
    assert store.fetch(server.at("/old", redirect("/new", 308))).path.read_bytes() == b"net"


@pytest.mark.parametrize("target", ["file:///etc/hostname", "ftp://127.0.0.1/x", "data:text/plain,x", "gopher://x/"])
def test_a_redirect_to_another_kind_of_address_is_not_followed(
    server: Server, store: ArtifactStore, target: str
) -> None:
    with pytest.raises(ArtifactError, match="redirect.* not followed"):
        store.fetch(server.at("/net", redirect(target)))
    assert server.paths == ["/net"]


def test_a_redirect_out_of_encryption_is_not_followed(server: Server, secure_server: Server, certificate: Path) -> None:
    plain = server.at("/net", whole(b"net"))
    with pytest.raises(WebError, match="redirect to http: that is not followed"):
        read_url(secure_server.at("/net", redirect(plain)), 100, certificates=str(certificate))
    assert not server.asked


def test_an_unknown_certificate_is_refused_at_once(secure_server: Server, store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match="certificate is not trusted"):
        store.fetch(secure_server.at("/net", whole(b"net")))
    assert not secure_server.asked


def test_a_circle_of_redirects_ends(server: Server, store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match="redirect"):
        store.fetch(server.at("/round", redirect("/round")))


def test_a_password_in_a_url_is_sent_and_never_shown(server: Server, store: ArtifactStore) -> None:
    server.at("/net", guarded(whole(b"net"), SECRET))
    url = server.url("/net", "me:s3cr3t%40@")
    with pytest.raises(ArtifactError) as refusal:
        store.fetch(url, "sha256:" + "0" * 64)
    assert "wrong sha256 checksum" in str(refusal.value) and "s3cr3t" not in str(refusal.value)
    assert store.fetch(url).path.read_bytes() == b"net"


def test_a_password_is_not_kept_in_the_cache(server: Server, store: ArtifactStore, tmp_path: Path) -> None:
    server.at("/net", whole(b"net"))
    store.fetch(server.url("/net?token=s3cr3t", "me:s3cr3t@"))
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not [path for path in files if b"s3cr3t" in path.read_bytes()]


@pytest.mark.parametrize("answer", [status(401), status(403), status(404), status(500), redirect("ftp://x/")])
def test_no_refusal_shows_a_secret(server: Server, store: ArtifactStore, answer: object) -> None:
    server.at("/net", answer)  # type: ignore[arg-type]
    with pytest.raises(ArtifactError) as refusal:
        store.fetch(server.url("/net?token=s3cr3t", "me:s3cr3t@"))
    assert "s3cr3t" not in str(refusal.value) and "/net" in str(refusal.value)


def test_a_password_goes_to_its_own_host_only(server: Server, bare_machine: Path) -> None:
    other = Server()
    try:
        server.at("/here", redirect("/there"))
        server.at("/there", redirect(other.at("/net", whole(b"net"))))
        read_url(server.url("/here", "me:s3cr3t%40@"), 100)
        assert [request.headers["Authorization"] for request in server.asked] == [SECRET, SECRET]
        assert other.asked[0].headers["Authorization"] is None
    finally:
        other.close()


def test_only_the_web_is_asked() -> None:
    with pytest.raises(WebError, match="file:"):
        open_url("file:///etc/hostname")


def test_odd_letters_in_an_address_are_encoded(server: Server, bare_machine: Path) -> None:
    server.at("/m%C3%BCll%20%5B1%5D", whole(b"net"))
    assert read_url(server.url("/müll%20[1]"), 100).body == b"net"


def test_unreadable_certificates_are_named(tmp_path: Path) -> None:
    with pytest.raises(ArtifactError, match=r"nothing\.pem"):
        open_url("https://127.0.0.1:1/", certificates=str(tmp_path / "nothing.pem"))


def test_a_small_answer_is_asked_for_again(server: Server, bare_machine: Path) -> None:
    url = server.at("/index", status(503), cut(b"<html></html>", 5), whole(b"<html></html>"))
    assert read_url(url, 100).body == b"<html></html>"
    assert len(server.asked) == 3


def test_an_endless_answer_is_refused(server: Server, bare_machine: Path) -> None:
    with pytest.raises(WebError, match="more than 10 bytes"):
        read_url(server.at("/index", whole(b"x" * 11)), 10)


def test_a_host_that_is_not_there_is_named(store: ArtifactStore) -> None:
    with pytest.raises(ArtifactError, match=r"cannot fetch http://127\.0\.0\.1:9/net: .*refused"):
        store.fetch("http://127.0.0.1:9/net")
