"""Latency in words, and the parts of a call on a device."""

import json
from collections.abc import Callable

import pytest

from mlmodelscope.cli.evaluate import show_record
from mlmodelscope.record.record import LatencyRecord, Record
from mlmodelscope.record.summary import summarise_latency
from mlmodelscope.report.latency import describe_latency, describe_parts

PARTS = {"copy to device": [120_000] * 20, "run": [1_300_000] * 20, "copy from device": [20_000] * 20}
SPELT = "copy to device 120 µs, run 1.30 ms, copy from device 20.0 µs".replace(" µs", "\xa0µs").replace(" ms", "\xa0ms")


def measured(parts: dict[str, list[int]]) -> LatencyRecord:
    latency = summarise_latency(1, [9_000_000], [1_440_000] * 10, parts)
    assert latency is not None
    return latency


def test_parts_are_told_by_their_medians() -> None:
    assert describe_parts(measured(PARTS)) == SPELT
    assert describe_latency(measured(PARTS)).endswith(f"in 20 further runs with a wait between them: {SPELT}.")
    assert "parts" not in describe_latency(measured({}))


def test_a_record_from_before_there_were_parts_still_opens() -> None:
    text = json.loads(measured({}).model_dump_json())
    del text["parts_ns"]
    assert LatencyRecord.model_validate(text) == measured({})


def test_parts_are_shown_and_reported(
    make_record: Callable[..., Record],
    keep: Callable[..., Record],
    report: Callable[..., str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    record = keep(make_record(latency=measured(PARTS)))
    show_record(record)
    assert f"parts       {SPELT}" in capsys.readouterr().out
    assert SPELT in report(record, "md") and SPELT in report(record, "html")
