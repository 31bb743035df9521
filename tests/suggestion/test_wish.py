"""What people write when they wish: units, tasks, metrics, licenses; and what cannot be read."""

import re
from pathlib import Path

import pytest

from mlmodelscope.errors import UsageError
from mlmodelscope.suggestion.permissive import PERMISSIVE, fits_license, license_name
from mlmodelscope.suggestion.wish import bound_of, count, make_wish, seconds, size_bytes, task_word


@pytest.mark.parametrize(
    ("text", "value"), [("20ms", 0.02), ("0.02s", 0.02), ("20 ms", 0.02), ("500us", 5e-4), ("500µs", 5e-4), ("1 s", 1)]
)
def test_times(text: str, value: float) -> None:
    assert seconds("--max-latency", text) == pytest.approx(value)


@pytest.mark.parametrize(("text", "value"), [("25M", 25e6), ("25m parameters", 25e6), ("1.5B", 1.5e9), ("1000", 1000)])
def test_counts(text: str, value: float) -> None:
    assert count("--max-parameters", text) == value


@pytest.mark.parametrize(("text", "value"), [("100MB", 1e8), ("1.5 GiB", 1.5 * 2**30), ("200kB", 2e5), ("7B", 7)])
def test_sizes(text: str, value: float) -> None:
    assert size_bytes("--max-size", text) == value


@pytest.mark.parametrize(
    "text", ["", "20", "ms", "-5ms", "0ms", "nan", "inf s", "1e9s", "20 mss", "9" * 400 + "s", "二十ms"]
)
def test_what_is_not_a_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="which is not a time"):
        seconds("--max-latency", text)


@pytest.mark.parametrize("text", ["100", "MB", "-1MB", "NaN MB", "1 XB"])
def test_what_is_not_a_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="which is not a size"):
        size_bytes("--max-size", text)


def test_bounds_are_as_published() -> None:
    assert bound_of("ap=30", True).value == pytest.approx(0.3)
    assert bound_of("top1=80%", True).value == pytest.approx(0.8)
    assert bound_of("psnr=37.65dB", True).value == pytest.approx(37.65)
    assert bound_of("top1=80", True).holds(0.8) and not bound_of("top1=80", True).holds(0.7999)
    assert bound_of("wer=5", False).holds(0.05) and not bound_of("wer=5", False).holds(0.051)


def test_a_share_is_not_taken_for_a_percentage() -> None:
    with pytest.raises(UsageError, match="is that a share") as caught:
        bound_of("top1=0.8", True)
    assert "top1=80 is the share, top1=0.8% the percentage" in str(caught.value)
    assert bound_of("top1=0.8%", True).value == pytest.approx(0.008)


@pytest.mark.parametrize(
    ("text", "said"),
    [("ap", "METRIC=VALUE"), ("app=3", "there is no metric"), ("ap=x", "not a number"), ("ap=", "not a number")],
)
def test_what_is_not_a_bound_is_refused(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        bound_of(text, True)


def test_tasks_have_short_words() -> None:
    assert (
        task_word("detection") == "object_detection" and task_word("semantic-segmentation") == "semantic_segmentation"
    )
    assert task_word("asr") == "speech_recognition" and task_word("classification") == "classification"
    with pytest.raises(UsageError, match="there is no task `detektion`"):
        task_word("detektion")


def test_a_wish_ranks_by_its_first_bound_or_the_tasks_headline() -> None:
    assert make_wish("classification", ()).measure.name == "top1"
    assert make_wish("classification", (bound_of("top5=90", True),)).measure.name == "top5"
    assert make_wish(None, (), "ap").measure.name == "ap"
    with pytest.raises(UsageError, match="needs a task or a metric"):
        make_wish(None, ())
    with pytest.raises(UsageError, match="is not a cost"):
        make_wish("classification", (), cost="money")


def test_the_cost_is_what_was_bounded() -> None:
    assert make_wish("classification", ()).cost == "parameters"
    assert make_wish("classification", (), latency="20ms").cost == "latency"
    assert make_wish("classification", (), size="20MB").cost == "size"
    assert make_wish("classification", (), latency="20ms", cost="gflops").cost == "gflops"


def test_licenses_are_on_a_list() -> None:
    assert all(name == license_name(name) for name in PERMISSIVE)
    assert fits_license("apache-2.0", "permissive") and fits_license("MIT", "permissive")
    assert fits_license("Apache 2.0", "permissive") and fits_license("CC-BY-4.0", "Permissive")
    for name in (
        "cc-by-nc-4.0",
        "cc-by-sa-4.0",
        "gpl-3.0",
        "agpl-3.0",
        "openrail",
        "gemma",
        "apple-amlr",
        "https://x.y",
    ):
        assert fits_license(name, "permissive") is False


@pytest.mark.parametrize("text", [None, "", "unknown", " Unknown ", "other", "not stated by its authors"])
def test_a_license_that_nobody_tells_fits_nothing(text: str | None) -> None:
    assert fits_license(text, "permissive") is None and fits_license(text, "mit") is None


def test_a_license_may_be_named() -> None:
    assert fits_license("mit", "MIT") and fits_license("apache-2.0", "Apache 2.0")
    assert fits_license("mit", "apache-2.0") is False


def test_the_docs_list_every_permissive_license() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "catalog.md").read_text()
    listed = page.partition("**`--license permissive`**")[2].partition("The license of the code")[0]
    names, last = [], ""
    for word in re.findall(r"[A-Za-z0-9.-]+", listed.partition("is one of")[2]):
        name = last.rpartition("-")[0] + word if re.fullmatch(r"-\d\.\d", word) else word  # `CC-BY-2.0, -3.0`
        if name != "or" and name != "and":
            names.append(name.rstrip(".").lower())
            last = name
    assert {name for name in PERMISSIVE if not re.match(r"(odc-by|pddl)-", name)} == set(names)
