"""A stranger's URL leads nowhere that only this machine can reach: checked when the name is known, at each step."""

from __future__ import annotations

import socket
from dataclasses import replace
from typing import Any

import pytest
from loopback import Server, redirect, whole

from mlmodelscope.errors import ArtifactError
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.web import WebError, open_url
from mlmodelscope.settings import Settings
from mlmodelscope_worker import public_address
from mlmodelscope_worker.public_address import is_asked_for, is_public, lookup

PRIVATE = [
    "127.0.0.1",
    "127.8.9.1",
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "192.0.0.192",
    "198.18.0.1",
    "192.0.2.1",
    "203.0.113.9",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",
    "::1",
    "::",
    "fe80::1",
    "fe80::1%eth0",
    "fc00::1",
    "fd00:ec2::254",
    "ff02::1",
    "fec0::1",
    "2001:db8::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "::7f00:1",
    "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",
    "2002:7f00:1::",
    "2002:a00:1::",
    "2001:0:4136:e378:8000:63bf:80ff:fffe",
    "localhost",
    "2130706433",
    "not-an-address",
]
PUBLIC = ["8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_special_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_everybodys_addresses_are(address: str) -> None:
    assert is_public(address)


def require_localhost() -> None:
    """A bare root file system has no /etc/hosts."""
    try:
        socket.getaddrinfo("localhost", 80)
    except OSError as error:
        pytest.skip(f"no name `localhost` here: {error}")


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "[::1]", "0"]
)
def test_however_this_machine_is_spelled_it_is_not_asked(server: Server, host: str) -> None:
    url = server.url("/x").replace("127.0.0.1", host)
    if host == "localhost":
        require_localhost()
    with pytest.raises(WebError, match="not a public one|not an address") as caught:
        open_url(url, public_only=True)
    assert not caught.value.is_transient and server.paths == []


def dns(monkeypatch: pytest.MonkeyPatch, *rounds: list[str]) -> list[str]:
    """A name server that says something else each time; the names that it was asked for."""
    asked: list[str] = []

    def answer(host: str, port: int, *more: Any, **even_more: Any) -> list[Any]:
        addresses = rounds[min(len(asked), len(rounds) - 1)]
        asked.append(host)
        return [
            (socket.AF_INET6 if ":" in each else socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port))
            for each in addresses
        ]

    monkeypatch.setattr(socket, "getaddrinfo", answer)
    return asked


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"], ["169.254.169.254"]])
def test_a_name_that_leads_here_is_refused(monkeypatch: pytest.MonkeyPatch, addresses: list[str]) -> None:
    dns(monkeypatch, addresses)
    with pytest.raises(OSError, match="not a public one"):
        lookup("innocent.example", 80)


def test_the_connection_goes_to_the_address_that_was_checked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that means something else the second time: there is no second time."""
    asked = dns(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    tried: list[Any] = []

    class Refusing(socket.socket):
        def connect(self, place: Any) -> None:
            tried.append(place)
            raise ConnectionRefusedError("not here")

    monkeypatch.setattr(public_address.socket, "socket", Refusing)
    with pytest.raises(WebError, match="not here"):
        open_url("http://rebinding.example/x", public_only=True)
    assert asked == ["rebinding.example"] and tried == [("93.184.216.34", 80)] and server.paths == []


def public_server(monkeypatch: pytest.MonkeyPatch, server: Server) -> str:
    """The local server under a name whose address, for once, counts as public."""
    real, name = socket.getaddrinfo, "public.example"
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *more, **even: real("127.0.0.1" if host == name else host, *more, **even),
    )
    seen = {"count": 0}

    def once(address: str) -> bool:
        seen["count"] += 1
        return seen["count"] == 1

    monkeypatch.setattr(public_address, "is_public", once)
    return server.url("/start").replace("127.0.0.1", name)


def test_what_is_public_is_fetched(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.at("/start", whole(b"hello"))
    with open_url(public_server(monkeypatch, server), public_only=True) as response:
        assert response.read() == b"hello"


def test_a_redirect_is_checked_again(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.at("/start", redirect(server.at("/secret", whole(b"secret"))))
    with pytest.raises(WebError, match="not a public one"):
        open_url(public_server(monkeypatch, server), public_only=True)
    assert server.paths == ["/start"]


def test_certificates_are_those_of_the_name(secure_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(WebError, match="not trusted"):
        open_url(public_server(monkeypatch, secure_server), public_only=True)


def test_other_protocols_are_not_spoken_for_strangers(settings: Settings) -> None:
    store = ArtifactStore(replace(settings, public_only=True))
    for url in ("s3://bucket/file", "ftp://host/file", "git://host/file", "memory://x"):
        with pytest.raises(ArtifactError, match="is not fetched for somebody on another machine"):
            store.fetch(url)


def test_what_was_fetched_for_us_is_not_remembered_for_strangers(server: Server, settings: Settings) -> None:
    server.at("/private", whole(b"ours"))
    assert ArtifactStore(settings).fetch(server.url("/private")).path.read_bytes() == b"ours"
    with pytest.raises(ArtifactError, match="not a public one"):
        ArtifactStore(replace(settings, public_only=True)).fetch(server.url("/private"))


def test_an_agent_may_speak_to_the_server_that_it_was_started_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_asked_for("http://10.0.0.5:8000")
    monkeypatch.setenv("MLMODELSCOPE_PUBLIC_ONLY", "1")
    monkeypatch.setenv("MLMODELSCOPE_SPEAKS_FOR", "http://10.0.0.5:8000/path")
    assert not is_asked_for("http://10.0.0.5:8000")
    assert is_asked_for("http://10.0.0.5:8001") and is_asked_for("grpc://10.0.0.5:8000") and is_asked_for("")
