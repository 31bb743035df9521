"""The HTML report: complete, self-contained, and harmless whatever the data says."""

import re
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mlmodelscope import Options, Record, Settings, evaluate
from mlmodelscope.errors import UsageError
from mlmodelscope.manifest.schema import Claim
from mlmodelscope.record.record import Failure
from mlmodelscope.report import html
from mlmodelscope.report.mistakes import most_confident

Report = Callable[..., str]
VOID = {"meta", "img", "br", "input"}


class Page(HTMLParser):
    """Tags in order, texts, and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(text)
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def test_the_page_says_what_was_evaluated_and_shows_every_section(evaluated: Record, report: Report) -> None:
    page = Page(report(evaluated))
    sections = {each.get("id") for each in page.all("section")}
    assert sections == {"numbers", "claims", "latency", "accuracy", "mistakes", "pipeline", "again"}
    assert {each["href"] for each in page.all("a") if each["href"].startswith("#")} >= {f"#{name}" for name in sections}
    assert evaluated.id in page.text and evaluated.plan_digest in page.text
    assert "published 75.1" in page.text and evaluated.machine.cpu in page.text


def test_the_page_asks_nobody_for_anything(evaluated: Record, report: Report) -> None:
    page = Page(report(evaluated))
    assert not {name for name, _ in page.tags} & {"script", "link", "iframe", "object", "embed", "form", "base"}
    assert all(each["src"].startswith("data:image/") for each in page.all("img"))
    assert not re.search(r"url\(|@import", report(evaluated))
    policy = next(each["content"] for each in page.all("meta") if each.get("http-equiv"))
    assert policy.startswith("default-src 'none'")


def test_every_picture_has_words_and_headings_do_not_skip(evaluated: Record, report: Report) -> None:
    page = Page(report(evaluated))
    assert page.all("img") and all(" taken for " in (each["alt"] or "") for each in page.all("img"))
    assert all(each.get("aria-label") or each.get("aria-hidden") for each in page.all("svg"))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1 and all(after - before <= 1 for before, after in zip(levels, levels[1:], strict=False))


HOSTILE = [
    "<script>alert(1)</script>",
    '" onerror="alert(1)',
    "'><img src=x onerror=alert(1)>",
    "\u202egnissim \u05e9\u05dc\u05d5\u05dd",
    "w" * 3000,
    "${7*191} <% raise %> {{7*191}} &lt;",
    "javascript:alert(1)",
]


def test_hostile_names_are_only_words(make_record: Callable, keep: Callable, report: Report) -> None:
    numbers = range(len(HOSTILE))
    record = make_record(
        class_names=tuple(HOSTILE),
        notes=tuple(HOSTILE),
        failed=7,
        samples=77,
        failures=tuple(Failure(sample=text, reason=text) for text in HOSTILE),
        claims=[Claim(metric="top1", value="70", dataset=text, source=text) for text in HOSTILE],
        metrics={},
        details={
            "per_class": [{"class": number, "right": 1, "seen": 9} for number in numbers],
            "confusion": [{"label": number, "answer": 0, "count": 2} for number in numbers],
        },
        refused={"top1": HOSTILE[0], "top5": HOSTILE[1], "calibration": HOSTILE[2]},
    )
    rows = [(HOSTILE[n], "d", n, [(n + 1) % 7, n], [0.9, 0.1], False, None) for n in numbers]
    page = Page(report(keep(record, rows)))
    for tag, attributes in page.tags:
        assert tag not in ("script", "img")
        assert not any(name.startswith("on") for name in attributes)
        assert not (attributes.get("href") or "").startswith("javascript:")
    assert HOSTILE[0] in page.text and "1337" not in page.text


def test_nothing_but_charts_the_style_sheet_and_our_script_goes_unescaped() -> None:
    for path in (Path(html.__file__).parent / "templates").glob("*.mako"):
        unescaped = re.findall(r"\$\{([^}]*)\|\s*n\s*\}", path.read_text())
        assert all("chart" in name or name.strip() in ("style", "script") for name in unescaped), path.name


def test_a_dataset_that_has_gone_costs_the_pictures_not_the_report(
    evaluated: Record, report: Report, tmp_path: Path
) -> None:
    shutil.rmtree(tmp_path / "pictures")
    page = Page(report(evaluated))
    assert not page.all("img")
    assert "the dataset cannot be read any more: there is no file" in page.text
    assert "It is class" in page.text.replace("\n", " ")


def test_a_dataset_that_has_changed_is_not_shown_as_if_it_had_not(
    evaluated: Record, report: Report, tmp_path: Path
) -> None:
    (tmp_path / "pictures" / "class0" / "0000.png").write_bytes(b"something else")
    assert "the dataset cannot be read any more: wrong sha256 checksum" in Page(report(evaluated)).text


def test_fifty_thousand_samples_make_a_small_page(make_record: Callable, keep: Callable, report: Report) -> None:
    rows = [
        (f"{index:05d}", "d", index % 1000, [(index + 1) % 1000, index % 1000], [index / 50_000, 0.0], False, None)
        for index in range(50_000)
    ]
    details = {
        "per_class": [{"class": label, "right": label % 51, "seen": 50} for label in range(1000)],
        "confusion": [{"label": n, "answer": n + 1, "count": 50} for n in range(100)],
    }
    record = make_record(right=37_500, samples=50_000, class_names=tuple(map(str, range(1000))), details=details)
    text = report(keep(record, rows))
    assert len(text) < 250_000
    assert Page(text).text.count("It is") == 24
    assert "49999" in text and "The 24 of 50,000 wrong answers" in text


def test_the_most_confident_come_first_and_ties_go_by_id() -> None:
    import pyarrow as pa

    table = pa.table({"id": ["b", "c", "a", "d"], "scores": [[0.5, 0.1], [0.9], [0.5], [float("nan")]]})
    assert most_confident(table, 3)["id"].to_pylist() == ["c", "a", "b"]
    assert most_confident(table.slice(0, 0), 3).num_rows == 0


def test_failures_and_notes_are_in_plain_sight(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable, report: Report
) -> None:
    folder = make_pictures()
    (folder / "class0" / "0000.png").write_bytes(b"not a picture")
    page = Page(report(evaluate(make_model(), make_dataset(folder), settings=settings)))
    assert "1 of 12 samples failed" in page.text
    assert "class0/0000.png" in page.text
    assert page.text.index("1 of 12 samples failed") < page.text.index("Top-1")


def test_when_every_sample_failed_the_reasons_stand_where_numbers_would(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable, report: Report
) -> None:
    folder = make_pictures(3)
    for path in folder.rglob("*.png"):
        path.write_bytes(b"broken")
    page = Page(report(evaluate(make_model(), make_dataset(folder), settings=settings)))
    assert "Not computed: top-1 accuracy of no samples is not a number" in page.text
    assert "Latency was not measured." in page.text


def test_logits_have_scores_but_no_bars(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable, report: Report
) -> None:
    model = make_model(outputs=[{"type": "logits"}])
    text = report(evaluate(model, make_dataset(make_pictures()), Options(top_k=3), settings=settings))
    gallery = text[text.index('class="gallery"') : text.index('id="pipeline"')]
    assert 'class="bar"' not in gallery
    assert "the scores are logits" in text and "only the 3 best answers were kept" in text


def test_a_record_without_any_mistake_says_so(make_record: Callable, keep: Callable, report: Report) -> None:
    text = report(keep(make_record(right=70), [("a", "d", 0, [0], [1.0], True, None)]))
    assert "There is none." in text


def test_class_names_that_nobody_knows_are_numbers(make_record: Callable, keep: Callable, report: Report) -> None:
    page = Page(report(keep(make_record(), [("a", "d", 3, [-1], [0.5], False, None)])))
    assert "class 3" in page.text and "class -1" in page.text


def test_a_running_record_is_refused_with_a_hint(make_record: Callable, report: Report) -> None:
    with pytest.raises(UsageError, match="is not finished") as raised:
        report(make_record(status="running"))
    assert "resumes where it left off" in (raised.value.hint or "")


def test_an_unknown_format_is_refused_and_the_known_ones_are_named(make_record: Callable, report: Report) -> None:
    with pytest.raises(UsageError, match="known: csv, html, inspect, json, lm-eval, lm-eval-samples, md"):
        report(make_record(), "pdf")
