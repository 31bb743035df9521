"""Who may come in, and what they may do there."""

from __future__ import annotations

import httpx
import pytest

from mlmodelscope.server.rest.door import Limiter

from .conftest import World

PUBLIC = {"/api/v1/health", "/api/v1/ready", "/api/v1/openapi.json"}


def test_strangers_get_401_wherever_it_is_not_public(world: World) -> None:
    world.serve(require_token=True, executor="none")
    document = httpx.get(f"{world.url}/api/v1/openapi.json").json()
    tried = 0
    for path, methods in document["paths"].items():
        for method in methods:
            filled = path.replace("{kind}", "model")
            for name in ("identity", "name", "version"):
                filled = filled.replace("{" + name + "}", "x")
            for headers in ({}, {"Authorization": "Bearer mlms_wrong"}, {"Authorization": "Basic eDp4"}):
                answer = httpx.request(method, world.url + filled, json={}, headers=headers)
                expected = {200} if path in PUBLIC else {401}
                assert answer.status_code in expected, (method, path, answer.text)
                tried += 1
    assert tried > 60


def test_a_token_does_what_its_scopes_say_until_it_is_revoked(world: World) -> None:
    reader = world.run("token", "make", "--owner", "ada", "--scope", "read")
    admin = world.run("token", "make", "--owner", "root", "--scope", "admin")
    old = world.run("token", "make", "--owner", "old", "--scope", "admin", "--days", "0.0000001")
    world.serve(require_token=True, executor="none")

    def ask(token: str, method: str, path: str, **more: object) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.request(method, f"{world.url}/api/v1{path}", headers=headers, **more).status_code  # type: ignore[arg-type]

    assert ask(old, "GET", "/whoami") == 401
    assert ask(reader, "GET", "/evaluations") == 200
    assert ask(reader, "POST", "/requests", json={"model": "toy"}) == 403
    assert ask(reader, "GET", "/tokens") == 403
    made = httpx.post(
        f"{world.url}/api/v1/tokens",
        headers={"Authorization": f"Bearer {admin}"},
        json={"name": "n", "owner": "bob", "scopes": ["run"], "days": 1},
    ).json()
    assert ask(made["token"], "GET", "/whoami") == 200
    assert ask(admin, "DELETE", f"/tokens/{made['id']}") == 204
    assert ask(made["token"], "GET", "/whoami") == 401
    listed = httpx.get(f"{world.url}/api/v1/tokens", headers={"Authorization": f"Bearer {admin}"}).text
    assert reader not in listed and "hash" not in listed
    audit = httpx.get(f"{world.url}/api/v1/audit", headers={"Authorization": f"Bearer {admin}"}).json()["items"]
    assert [each["what"] for each in audit] == ["revoke token", "make token"]
    assert not any(secret in world.logs() for secret in (reader, admin, made["token"]))


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
def test_only_programs_on_this_machine_are_local(world: World, headers: dict[str, str], status: int) -> None:
    world.serve(executor="none")
    assert httpx.get(f"{world.url}/api/v1/whoami", headers=headers).status_code == status


def test_bodies_have_a_limit(world: World) -> None:
    world.serve(executor="none", largest_body=1000)
    url = f"{world.url}/api/v1/manifests"
    assert httpx.post(url, json={"text": "x" * 2000}).status_code == 413
    assert httpx.post(url, content=iter([b"x" * 10] * 10)).status_code == 413


def test_too_many_questions_wait() -> None:
    moment = [0.0]
    limiter = Limiter(60, lambda: moment[0])
    assert [limiter.wait_s("a") for _ in range(60)] == [0.0] * 60
    assert limiter.wait_s("a") == 1.0 and limiter.wait_s("b") == 0.0
    moment[0] = 1.5
    assert limiter.wait_s("a") == 0.0 and limiter.wait_s("a") > 0
