"""A page of samples as the record's page in a browser asks for it, of 50,000, beside a bare read of the same table."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import harness
import pyarrow.compute as pc
import pyarrow.parquet as pq
import store as keeping

from mlmodelscope import Settings
from mlmodelscope.ledger.tokens import Person
from mlmodelscope.record.record import Record
from mlmodelscope.record.search import Search
from mlmodelscope.server.config import Config
from mlmodelscope.server.desk import Desk
from mlmodelscope.server.handle import samples

PAGE = 100
GOAL_S = 0.1
SOMEBODY = Person("somebody", frozenset({"read"}))
SURE = {"only": "wrong", "above": 0.9, "sort": "score", "descending": True}
QUESTIONS: Mapping[str, Mapping[str, Any]] = {
    "all, in their order": {},
    "wrong, and sure of it": SURE,
    "a word in a name": {"q": "val_000123"},
    "a class by its name": {"q": "class 77"},
    "the slowest": {"sort": "latency", "descending": True},
}


def bare(path: Path, start: int) -> list[dict[str, Any]]:
    """What a script of one line does: read the table, take the page."""
    page: list[dict[str, Any]] = pq.read_table(path).slice(start, PAGE).to_pylist()
    return page


def scroll(desk: Desk, record: Record, question: Mapping[str, Any]) -> tuple[float, float, int]:
    """(seconds until the first page, at the median of the pages that follow, samples found); nothing is remembered."""
    desk.search = Search()
    times, total, start = [], 0, 0
    for _ in range(10):
        begun = time.perf_counter()
        _, total = samples.find(desk, SOMEBODY, record.id, **question, start=start, limit=PAGE)
        times.append(time.perf_counter() - begun)
        start = (start + 7 * PAGE) % max(total, 1)
    return times[0], median(times[1:]), total


def check(desk: Desk, record: Record, path: Path) -> list[str]:
    table = pq.read_table(path)
    faults = []
    if [each["id"] for each in _page(desk, record, {}, 4000)] != [each["id"] for each in bare(path, 4000)]:
        faults.append("a page is not the part of the table that it should be")
    first = pc.list_element(table["scores"], 0)
    sure = table.filter(
        pc.and_(pc.invert(pc.fill_null(table["right"], True)), pc.fill_null(pc.greater(first, 0.9), False))
    )
    wanted = sorted((-row["scores"][0], row["id"]) for row in sure.to_pylist())[:PAGE]
    if sorted((-row["scores"][0], row["id"]) for row in _page(desk, record, SURE, 0)) != wanted:
        faults.append("the surest of the wrong ones are others")
    return faults


def _page(desk: Desk, record: Record, question: Mapping[str, Any], start: int) -> list[dict[str, Any]]:
    return samples.find(desk, SOMEBODY, record.id, **question, start=start, limit=PAGE)[0]


def wall_of(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def main() -> None:
    arguments = harness.options(__doc__ or "").parse_args()
    count, rounds = (5000, 3) if arguments.quick else (50000, 7)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(home=place / "home", cache=place / "cache")
        desk = Desk(settings, Config())
        entries = keeping.make_answers(count)
        draft = keeping.make_record(place, settings)
        draft = draft.model_copy(update={"class_names": tuple(f"class {number}" for number in range(keeping.CLASSES))})
        record = keeping.keep(desk.store, draft, entries, keeping.make_samples(count))
        path = desk.store.samples_file(record)
        contenders: dict[str, Callable[[], Any]] = {"a bare read": lambda: wall_of(lambda: bare(path, count // 2))}
        contenders |= {
            name: (lambda question=question: scroll(desk, record, question)) for name, question in QUESTIONS.items()
        }
        seen = harness.interleave(contenders, rounds)
        faults = check(desk, record, path)
        desk.close()
    bare_s = seen.pop("a bare read")
    rows = [("a bare read of the table", harness.spread([1e3 * each for each in bare_s], 1), "", "")]
    for name, runs in seen.items():
        firsts, others, totals = zip(*runs, strict=True)
        rows.append((name, *(harness.spread([1e3 * each for each in part], 1) for part in (firsts, others)), totals[0]))
    harness.print_table(("milliseconds", "first page", "page while scrolling", "samples"), rows)
    print()
    firsts_s = {name: median(each[0] for each in runs) for name, runs in seen.items()}
    pages_s = {name: median(each[1] for each in runs) for name, runs in seen.items()}
    ratio = max(pages_s.values()) / median(bare_s)
    meaning = (
        f"the slowest kind of page of {PAGE} while scrolling through {count:,} samples / a bare read of the table; "
        f"goal: a first page <= {1e3 * GOAL_S:.0f} ms, seen {1e3 * max(firsts_s.values()):.0f} ms"
    )
    results = {"samples": count, "bare_s": bare_s, "first_s": firsts_s, "page_s": pages_s}
    harness.finish("web_samples", ratio, meaning, arguments.quick, results, faults)


if __name__ == "__main__":
    main()
