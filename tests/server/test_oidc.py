"""Tokens of an OpenID Connect issuer, which here is a small server with keys of its own."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from mlmodelscope.server import oidc
from mlmodelscope.server.config import Config
from mlmodelscope.server.oidc import Issuer

from .inside import Inside

jwt = pytest.importorskip("jwt", reason="PyJWT is not installed")
rsa = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.rsa")


class Provider:
    """Publishes its keys and signs what it is asked to."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.asked: list[str] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                provider.asked.append(self.path)
                found = provider.documents().get(self.path)
                body = json.dumps(found or {}).encode()
                self.send_response(200 if found else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self.new_key("first")

    def documents(self) -> dict[str, Any]:
        public = [
            {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": name, "use": "sig"}
            for name, key in self.keys.items()
        ]
        return {
            "/.well-known/openid-configuration": {"issuer": self.url, "jwks_uri": f"{self.url}/keys"},
            "/keys": {"keys": public},
        }

    def new_key(self, name: str) -> None:
        self.keys[name] = rsa.generate_private_key(public_exponent=65537, key_size=2048)

    def claims(self, **more: Any) -> dict[str, Any]:
        moment = int(time.time())
        times = {"iat": moment, "exp": moment + 300}
        return {"iss": self.url, "aud": "mlmodelscope", "sub": "ada", "scope": "viewer evaluator", **times, **more}

    def token(self, name: str = "first", **more: Any) -> str:
        claims = {key: value for key, value in self.claims(**more).items() if value is not None}
        return str(jwt.encode(claims, self.keys[name], "RS256", headers={"kid": name}))

    def config(self, **more: Any) -> dict[str, Any]:
        scopes = {"viewer": ["read"], "evaluator": ["run"], "boss": ["admin"]}
        return {"oidc_issuer": self.url, "oidc_audience": "mlmodelscope", "oidc_scopes": scopes, **more}

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    found = Provider()
    yield found
    found.close()


def test_its_people_come_in_with_what_their_words_mean_here(tmp_path: Path, provider: Provider) -> None:
    with Inside(tmp_path, require_token=True, **provider.config()) as server:

        def ask(token: str, path: str = "/whoami") -> httpx.Response:
            return server.get(f"/api/v1{path}", token)

        assert ask(provider.token()).json() == {"owner": "oidc:ada", "scopes": ["read", "run"]}
        assert ask(provider.token(scope="viewer unheard-of")).json()["scopes"] == ["read"]
        assert ask(provider.token(), "/audit").status_code == 403
        assert ask(provider.token(scope="boss"), "/audit").status_code == 200
        assert ask(provider.token()[:-4] + "AAAA").status_code == 401
        assert ask("mlms_wrong").status_code == 401
    assert provider.asked == ["/.well-known/openid-configuration", "/keys"]


@pytest.mark.parametrize(
    "change",
    [
        {"exp": 1},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"aud": "somebody-else"},
        {"aud": None},
        {"iss": "https://elsewhere.example"},
        {"nbf": 4_000_000_000},
    ],
)
def test_a_token_that_is_not_for_us_or_not_for_now_is_nobodys(provider: Provider, change: dict[str, Any]) -> None:
    issuer = Issuer(Config(**provider.config()))
    assert issuer.person(provider.token()) is not None
    assert issuer.person(provider.token(**change)) is None


def test_clocks_may_differ_a_little(provider: Provider) -> None:
    issuer, moment = Issuer(Config(**provider.config())), int(time.time())
    assert issuer.person(provider.token(exp=moment - 20)) is not None
    assert issuer.person(provider.token(iat=moment + 20, nbf=moment + 20)) is not None
    assert issuer.person(provider.token(exp=moment - 200)) is None


def test_only_signatures_that_the_issuer_alone_can_make_count(provider: Provider) -> None:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    issuer = Issuer(Config(**provider.config()))
    unsigned = jwt.encode(provider.claims(), None, "none", headers={"kid": "first"})
    public = provider.keys["first"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    # The public key taken for a shared secret, by hand: PyJWT itself refuses to make such a token.
    head, body, _ = provider.token().split(".")
    forged_head = jwt.utils.base64url_encode(b'{"alg":"HS256","kid":"first","typ":"JWT"}').decode()
    import hashlib
    import hmac

    mark = hmac.new(public, f"{forged_head}.{body}".encode(), hashlib.sha256).digest()
    forged = f"{forged_head}.{body}.{jwt.utils.base64url_encode(mark).decode()}"
    stranger = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    others = jwt.encode(provider.claims(), stranger, "RS256", headers={"kid": "first"})
    own = {"jwk": json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(stranger.public_key()))}
    bringing_a_key = jwt.encode(provider.claims(), stranger, "RS256", headers={"kid": "first", **own})
    for token in (unsigned, forged, others, bringing_a_key, "x", "a.b.c", "", "é.é.é", "x" * 100_000):
        assert issuer.person(token) is None
    assert issuer.person(provider.token()) is not None


def test_new_keys_are_found_and_unknown_ones_not_asked_for_again_and_again(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    issuer = Issuer(Config(**provider.config()))
    assert issuer.person(provider.token()) is not None
    provider.new_key("second")
    token = provider.token("second")
    assert issuer.person(token) is None  # it was asked a moment ago
    monkeypatch.setattr(oidc, "_ASK_EVERY_S", 0.0)
    assert issuer.person(token) is not None
    monkeypatch.undo()
    provider.new_key("third")
    before = len(provider.asked)
    for _ in range(20):
        assert issuer.person(provider.token("third")) is None
    assert len(provider.asked) == before


def test_an_issuer_that_is_away_locks_nobody_out_who_was_known(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlmodelscope.provision import web

    monkeypatch.setattr(web, "BACK_OFF_S", ())
    issuer = Issuer(Config(**provider.config()))
    assert issuer.person(provider.token()) is not None
    monkeypatch.setattr(provider, "documents", dict)
    monkeypatch.setattr(oidc, "_ASK_EVERY_S", 0.0)
    monkeypatch.setattr(issuer, "_until", 0.0)
    assert issuer.person(provider.token()) is not None


def test_scopes_may_be_deep_inside_and_names_are_kept_apart(provider: Provider) -> None:
    issuer = Issuer(Config(**provider.config(oidc_claim="realm.roles", oidc_owner="email")))
    person = issuer.person(provider.token(realm={"roles": ["boss", 7]}, email="ada@example.org"))
    assert person is not None and person.owner == "oidc:ada@example.org" and person.scopes == {"admin"}
    person = issuer.person(provider.token(sub="x" * 500, realm="none"))
    assert person is not None and len(person.owner) < 100 and person.scopes == frozenset()


@pytest.mark.parametrize("wrong", [{"oidc_audience": None}, {"oidc_issuer": "http://idp.example"}])
def test_a_configuration_that_would_be_unsafe_is_refused(provider: Provider, wrong: dict[str, Any]) -> None:
    from mlmodelscope.errors import UsageError

    with pytest.raises(UsageError, match="oidc_"):
        Issuer(Config(**provider.config(**wrong)))
