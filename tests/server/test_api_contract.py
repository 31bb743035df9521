"""The API as its document describes it: whatever is sent, nothing breaks, and every answer is one that was promised."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from budget import tries
from mlmodelscope.manifest.reference import parse_reference

from .conftest import World
from .roles import ELSEWHERE, SCOPES

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
hypothesis = pytest.importorskip("hypothesis")

from hypothesis import strategies as st  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

schemathesis.serializer.alias("application/zip", "application/octet-stream")
PROMISES = (
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
)
EXAMPLES = tries(3, 60)
"""Questions for each operation, right ones and wrong ones, and each person."""


@dataclass(frozen=True)
class Api:
    world: World
    admin: str
    document: dict[str, Any]
    known: Mapping[str, Mapping[str, str]]
    """What stands for `identity` and `name` under a path, so that questions get beyond *there is no such thing*."""


@pytest.fixture(scope="module")
def api(lasting_world: World) -> Api:
    """A server with a record in it, an admin's token, and the document."""
    admin, client = lasting_world.token("admin", owner="root"), lasting_world.client()
    (asked,) = client.ask({"model": "toy", "dataset": "pictures", "options": {"timed_runs": 1, "warm_up_runs": 1}})
    known = {
        "records": {"name": asked.wait().record().id},
        "evaluations": {"identity": asked.id},
        "agents": {"identity": client.agents()[0]["id"]},
        "artifacts": {"digest": str(parse_reference(client.upload(__file__)).digest)},
        "traces": {"identity": _trace(client)},
        "manifests": {"kind": "model", "name": "toy", "version": "1.0.0"},
    }
    return Api(lasting_world, admin, client.get("/openapi.json"), known)


def _trace(client: Any) -> str:
    identity = "5b8aa5a2d2c872e8321cf37308d69df2"
    span = {"traceId": identity, "spanId": "051581bf3cb55c13", "name": "a", "endTimeUnixNano": 9}
    client.post("/otlp/v1/traces", {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    return identity


def _roles() -> Iterator[Any]:
    """Those who may do most in every run, the others by night."""
    for who in SCOPES:
        yield pytest.param(who, marks=[] if who in ("admin", "local") else [pytest.mark.nightly])


def _headers(api: Api, who: str) -> dict[str, str]:
    if who in ("local", "none"):
        return {} if who == "local" else dict(ELSEWHERE)
    token = api.admin if who == "admin" else api.world.token(*SCOPES[who], owner=who)
    return {"Authorization": f"Bearer {token}"}


@pytest.mark.slow(reason="it asks every operation of the API several times")
@pytest.mark.parametrize("who", list(_roles()))
def test_nothing_breaks_and_answers_are_as_promised(api: Api, who: str) -> None:
    headers = _headers(api, who)
    schema = schemathesis.openapi.from_dict(api.document)
    tried, broken = 0, []
    for found in schema.get_all_operations():
        operation = found.ok()
        for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
            try:
                tried += _try(operation, mode, api, headers)
            except AssertionError as error:
                broken.append(f"{operation.label}: {error}")
            except hypothesis.errors.Unsatisfiable:
                pass  # nothing can be wrong about it
            except BaseExceptionGroup as group:
                broken += [f"{operation.label}: {error}" for error in group.exceptions]
    assert not broken, "\n\n".join(broken)
    assert tried > len(api.document["paths"]) * EXAMPLES
    assert "an error of our own" not in api.world.log("server")


def _try(operation: Any, mode: GenerationMode, api: Api, headers: dict[str, str]) -> int:
    tried = 0

    @hypothesis.settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(hypothesis.HealthCheck),
        phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],
    )
    @hypothesis.given(case=operation.as_strategy(generation_mode=mode), is_known=st.booleans())
    def ask(case: Any, is_known: bool) -> None:
        nonlocal tried
        tried += 1
        known = api.known.get(case.path.split("/")[3] if case.path.count("/") > 2 else "", {})
        if is_known and known and case.method != "DELETE":
            case.path_parameters = {name: known.get(name, value) for name, value in case.path_parameters.items()}
        if isinstance(case.body, dict) and "wait_s" in case.body:
            case.body["wait_s"] = 0
        case.call_and_validate(base_url=api.world.url, headers=headers, checks=PROMISES, timeout=300)

    ask()
    return tried
