"""Who may come in, and what they may do there."""

from __future__ import annotations

from pathlib import Path

import pytest

from mlmodelscope.server.rest.door import Limiter

from .inside import Inside

PUBLIC = {"/api/v1/health", "/api/v1/ready", "/api/v1/openapi.json"}


def test_strangers_get_401_wherever_it_is_not_public(tmp_path: Path) -> None:
    with Inside(tmp_path, require_token=True) as server:
        document = server.get("/api/v1/openapi.json").json()
        tried = 0
        for path, methods in document["paths"].items():
            for method in methods:
                filled = path.replace("{kind}", "model")
                for name in ("identity", "name", "version"):
                    filled = filled.replace("{" + name + "}", "x")
                for headers in ({}, {"Authorization": "Bearer mlms_wrong"}, {"Authorization": "Basic eDp4"}):
                    answer = server.ask(method, filled, json={}, headers=headers)
                    expected = {200} if path in PUBLIC else {401}
                    assert answer.status_code in expected, (method, path, answer.text)
                    tried += 1
        assert tried > 60


def test_a_token_does_what_its_scopes_say_until_it_is_revoked(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    with Inside(tmp_path, require_token=True) as server:
        reader, admin = server.token("read", owner="ada"), server.token("admin", owner="root")
        old = server.token("admin", owner="old", days=0.0000001)

        def ask(token: str, method: str, path: str, **more: object) -> int:
            return server.ask(method, f"/api/v1{path}", token, **more).status_code

        assert ask(old, "GET", "/whoami") == 401
        assert ask(reader, "GET", "/evaluations") == 200
        assert ask(reader, "POST", "/requests", json={"model": "toy"}) == 403
        assert ask(reader, "GET", "/audit") == 403
        assert {each["owner"] for each in server.get("/api/v1/tokens", reader).json()["items"]} == {"ada"}
        wanted = {"name": "n", "owner": "bob", "scopes": ["run"], "days": 1}
        made = server.ask("POST", "/api/v1/tokens", admin, json=wanted).json()
        assert ask(made["token"], "GET", "/whoami") == 200
        assert ask(admin, "DELETE", f"/tokens/{made['id']}") == 204
        assert ask(made["token"], "GET", "/whoami") == 401
        listed = server.get("/api/v1/tokens", admin).text
        assert reader not in listed and "hash" not in listed
        audit = server.get("/api/v1/audit", admin).json()["items"]
        assert [each["what"] for each in audit] == ["revoke token", "make token"]
    assert "/api/v1/whoami" in caplog.text
    assert not any(secret in caplog.text for secret in (reader, admin, made["token"]))


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "evil.example"}, 400),
        ({"Origin": "https://evil.example"}, 401),
        ({"X-Forwarded-For": "203.0.113.7"}, 401),
        ({"Forwarded": "for=203.0.113.7"}, 401),
    ],
)
def test_only_programs_on_this_machine_are_local(tmp_path: Path, headers: dict[str, str], status: int) -> None:
    with Inside(tmp_path) as server:
        assert server.get("/api/v1/whoami", headers=headers).status_code == status


def test_bodies_have_a_limit(tmp_path: Path) -> None:
    async def pieces():  # type: ignore[no-untyped-def]
        for _ in range(10):
            yield b"x" * 10

    with Inside(tmp_path, largest_body=1000) as server:
        assert server.ask("POST", "/api/v1/manifests", json={"text": "x" * 2000}).status_code == 413
        assert server.ask("POST", "/api/v1/manifests", content=pieces()).status_code == 413


def test_too_many_questions_wait() -> None:
    moment = [0.0]
    limiter = Limiter(60, lambda: moment[0])
    assert [limiter.wait_s("a") for _ in range(60)] == [0.0] * 60
    assert limiter.wait_s("a") == 1.0 and limiter.wait_s("b") == 0.0
    moment[0] = 1.5
    assert limiter.wait_s("a") == 0.0 and limiter.wait_s("a") > 0
