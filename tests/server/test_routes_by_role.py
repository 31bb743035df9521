"""Every operation of the REST interface, asked by everybody: a new one without a row here fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the server's packages are not installed")

from mlmodelscope.record.record import Record

from .conftest import World
from .inside import Inside
from .roles import ELSEWHERE, NEEDS, SCOPES, Own, everybody
from .route_table import ROWS


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Inside, dict[str, Own], Record]]:
    world = World(tmp_path_factory.mktemp("roles"))
    record = world.evaluate(home="home", timed_runs=1, warm_up_runs=1, limit=3)
    with pytest.MonkeyPatch.context() as patch, Inside(world.place) as server:
        patch.setenv("MLMODELSCOPE_MANIFESTS", str(world.place / "manifests"))
        yield server, everybody(server, world.place), record
    world.close()


def test_every_route_is_in_the_table(asked: tuple[Inside, dict[str, Own], Record]) -> None:
    document = asked[0].get("/api/v1/openapi.json").json()
    known = {each["operationId"] for methods in document["paths"].values() for each in methods.values()}
    assert set(ROWS) == known, "a new operation needs a row that says who may ask for it"


def test_everybody_gets_what_their_role_may_have(asked: tuple[Inside, dict[str, Own], Record]) -> None:
    server, people, record = asked
    wrong = []
    for name, row in ROWS.items():
        for role, own in people.items():
            more = dict(row.more(own, record))
            headers = {**(ELSEWHERE if role == "none" else {}), **more.pop("headers", {})}
            status = server.ask(row.method, row.path(own, record), own.token, headers=headers, **more).status_code
            refused = 401 if role == "none" else 403
            if (status == refused) is (role in NEEDS[row.needs]) or status in {401, 403, 422, 500} - {refused}:
                wrong.append(f"{name} as {role}: {status}")
    assert not wrong, "\n".join(wrong)


def test_the_roles_are_those_of_the_table() -> None:
    assert all(needs <= set(SCOPES) for needs in NEEDS.values())
