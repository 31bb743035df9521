"""A trace as a page shows it: every span is in exactly one row, and what is told together adds up."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope.client.client import Client
from mlmodelscope.errors import UsageError
from mlmodelscope.trace.otlp import as_json
from mlmodelscope.trace.span import Span, Trace, span_id_of, trace_id_of

from .conftest import World

FIXTURES = Path(__file__).parents[1] / "trace" / "fixtures"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("views"))
    world.host(executor="none")
    yield world
    world.close()
    assert "Traceback" not in world.log("server")


@pytest.fixture(scope="module")
def client(world: World) -> Iterator[Client]:
    with Client(world.url) as client:
        yield client


@pytest.fixture(scope="module")
def gpu(world: World, client: Client) -> str:
    """The trace of a real profile: kernels of an H200 on a stream of their own."""
    record = world.adopt(FIXTURES / "resnet50-h200-batch1")
    (found,) = client.traces(record=record.id)
    return str(found["id"])


def timeline(client: Client, identity: str, **wanted: Any) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"/traces/{identity}/timeline", wanted)
    return found


def test_kernels_lie_below_the_layers_that_start_them(client: Client, gpu: str) -> None:
    rows = timeline(client, gpu)["rows"]
    levels = [row["level"] for row in rows]
    order = ("application", "model", "framework", "library", "hardware")
    assert levels == sorted(levels, key=order.index)
    assert any(row["level"] == "library" and row["lane"].startswith("stream") for row in rows)
    assert sum(row["spans"] for row in rows) == client.get(f"/traces/{gpu}")["spans"]


def test_spans_of_a_row_do_not_cover_one_another(client: Client, gpu: str) -> None:
    found = timeline(client, gpu, bins=2000)
    assert sum(found["count"]) == found["total"]
    rows: dict[int, list[tuple[int, int]]] = {}
    for row, start, end, count in zip(*(found[name] for name in ("row", "start_ns", "end_ns", "count")), strict=True):
        if count == 1:
            rows.setdefault(row, []).append((start, end))
    for spans in rows.values():
        assert all(before[1] <= after[0] for before, after in pairwise(sorted(spans)))


def test_fewer_bins_tell_more_together_and_the_same_in_all(client: Client, gpu: str) -> None:
    coarse, fine = timeline(client, gpu, bins=20), timeline(client, gpu, bins=2000)
    assert len(coarse["row"]) < len(fine["row"])
    assert sum(coarse["spent_ns"]) == sum(fine["spent_ns"]) and coarse["total"] == fine["total"]
    assert all((own is None) == (count > 1) for own, count in zip(coarse["id"], coarse["count"], strict=True))


def test_a_window_a_level_and_a_word_leave_the_rest_out(client: Client, gpu: str) -> None:
    whole = timeline(client, gpu)
    layers = next(row for row in whole["rows"] if row["level"] == "framework")
    half = timeline(client, gpu, from_ns=(layers["first_ns"] + layers["last_ns"]) // 2)
    assert half["total"] < whole["total"] and half["rows"] == whole["rows"]
    model = timeline(client, gpu, level="model")
    assert {whole["rows"][row]["level"] for row in model["row"]} <= {"application", "model"}
    named = timeline(client, gpu, name="CONV")
    assert named["names"] and all("conv" in name.lower() for name in named["names"])
    assert timeline(client, gpu, name="there is none")["total"] == 0


def test_one_span_tells_all_that_is_known_of_it(client: Client, gpu: str) -> None:
    found = timeline(client, gpu, bins=2000)
    place = next(
        at for at, row in enumerate(found["row"]) if found["rows"][row]["level"] == "framework" and found["id"][at]
    )
    span = client.get(f"/traces/{gpu}/spans/{found['id'][place]}")
    assert span["name"] == found["names"][found["name"][place]] and span["attributes"]["kind"]
    assert [each["level"] for each in span["around"]][-1] == "model" and span["below"] > 0
    with pytest.raises(UsageError, match="there is no span"):
        client.get(f"/traces/{gpu}/spans/none")


def test_a_flame_graphs_own_times_add_up(client: Client, gpu: str) -> None:
    nodes = client.get(f"/traces/{gpu}/flames", {"least": 0})["nodes"]
    below: dict[int, int] = {}
    for place, node in enumerate(nodes[1:], 1):
        assert node["parent"] < place
        below[node["parent"]] = below.get(node["parent"], 0) + node["total_ns"]
    assert nodes[0]["total_ns"] == below[0]
    few = client.get(f"/traces/{gpu}/flames", {"least": 0.05})
    assert len(few["nodes"]) < len(nodes) and few["left_out"] > 0


def test_the_names_that_take_most_time_come_first(client: Client, gpu: str) -> None:
    found = client.get(f"/traces/{gpu}/names", {"level": "library", "limit": 1000})
    totals = [each["total_ns"] for each in found["items"]]
    assert totals == sorted(totals, reverse=True) and sum(totals) == found["whole_ns"]
    assert sum(each["share"] for each in found["items"]) == pytest.approx(1)


def test_a_layer_has_the_same_share_wherever_it_is_shown(client: Client, gpu: str) -> None:
    found = client.get(f"/traces/{gpu}/names", {"level": "framework", "limit": 1000})
    (layers,) = client.get(f"/traces/{gpu}/analyses", {"only": "A2"})["analyses"]
    name, share, spent = ([each["name"] for each in layers["columns"]].index(at) for at in ("name", "share", "time_ns"))
    shares: dict[str, float] = {}
    for row in layers["rows"]:
        shares[row[name]] = shares.get(row[name], 0.0) + row[share]
    assert {each["name"]: each["share"] for each in found["items"]} == pytest.approx(shares)
    assert found["in_a_run"] and found["whole_ns"] == pytest.approx(sum(row[spent] for row in layers["rows"]))


def test_analyses_are_those_of_the_command_and_say_what_is_missing(client: Client, gpu: str) -> None:
    found = client.get(f"/traces/{gpu}/analyses")
    known = {each["id"]: each for each in found["analyses"]}
    assert {"A2", "A6", "A10", "A14"} <= set(known) and found["peak"]["flops_per_s"] > 0
    assert set(known) | {each["id"] for each in found["missing"]} == {f"A{number}" for number in range(1, 16)}
    names = [column["name"] for column in known["A2"]["columns"]]
    assert "time_ns" in names and len(known["A2"]["rows"]) == known["A2"]["total"]
    assert all(each["why"] for each in found["missing"])
    (only,) = client.get(f"/traces/{gpu}/analyses", {"only": "a6"})["analyses"]
    assert only["id"] == "A6"
    with pytest.raises(UsageError, match="there is no analysis"):
        client.get(f"/traces/{gpu}/analyses", {"only": "A99"})


def test_a_trace_of_anybodys_program_has_views_too(client: Client) -> None:
    identity = trace_id_of("strange", 0)
    ids = [span_id_of(identity, number) for number in range(3)]
    spans = (  # a child before its parent, one that overlaps another, one that takes no time
        Span(identity, ids[0], ids[1], "early", "application", 0, 10),
        Span(identity, ids[1], None, "late", "application", 5, 20),
        Span(identity, ids[2], ids[1], "now", "application", 20, 20, {"lane": "gpu"}),
    )
    made = Trace(identity, 10**18, spans, resource={"service.name": "shop"})
    client.post("/otlp/v1/traces", as_json(made, made.spans))
    assert timeline(client, identity)["total"] == 3
    assert client.get(f"/traces/{identity}/flames")["nodes"][0]["total_ns"] > 0
    found = client.get(f"/traces/{identity}/analyses")
    assert found["analyses"] == [] and found["record"] is None and "MODEL" in found["missing"][0]["command"]


@pytest.mark.parametrize(
    "path", ["timeline?from_ns=9&to_ns=1", "timeline?bins=0", "timeline?bins=9999", "names?level=none", "names"]
)
def test_what_makes_no_sense_is_refused(world: World, gpu: str, path: str) -> None:
    answer = world.http.get(f"/traces/{gpu}/{path}")
    assert answer.status_code in (400, 422) and answer.headers["content-type"] == "application/problem+json"
    assert world.http.get("/traces/nothing/flames").status_code == 404
