"""The numbers as Markdown that can be pasted into an issue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import reproduction, words
from mlmodelscope.report.claims import compare_claims, published, published_text, unmeasured_claims
from mlmodelscope.report.class_numbers import class_sheet, spelled
from mlmodelscope.report.classes import confusions, describe_classes, too_few, worst_classes
from mlmodelscope.report.latency import describe_latency, latency_rows
from mlmodelscope.report.numbers import headline_of, other_numbers
from mlmodelscope.report.pipeline import pipeline_blocks

_SHOWN = 10
_PIPE = r"\|"


def write_markdown(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    sections = (_head, _numbers, _claims, _latency, _accuracy, _failures, _pipeline, _again)
    return "\n\n".join(part for section in sections for part in section(record)) + "\n"


def _head(record: Record) -> Iterator[str]:
    model, dataset = record.plan.model, record.plan.dataset
    yield f"## {model.name}@{model.version} on {dataset.reference}"
    yield f"{record.created_at:%Y-%m-%d %H:%M} UTC, record `{record.id}`, plan `{record.plan_digest[:12]}`"
    if record.notes:
        yield "\n".join(f"> **Note:** {_plain(note)}" for note in record.notes)


def _numbers(record: Record) -> Iterator[str]:
    rows = []
    for name, number in {**headline_of(record), **other_numbers(record)}.items():
        if number is None:
            rows.append((_plain(words.title(name)), "–", _plain(record.refused.get(name, "no data"))))
        else:
            rows.append((_plain(words.title(name)), words.measured_value(number), words.measured_range(number)))
    failed = f", {words.count(record.failed)} failed" if record.failed else ""
    rows.append(("samples", f"{words.count(record.samples)}{failed}", ""))
    if record.latency is not None:
        p50 = record.latency.p50_s
        name = f"latency, median, batch {record.latency.batch_size}"
        rows.append((name, words.duration(p50.value), words.duration_range(p50)))
    speed = words.throughput(record)
    if speed is not None:
        rows.append(("throughput", f"{speed} samples/s", ""))
    yield _table(("", "measured", "95 % interval"), rows)


def _claims(record: Record) -> Iterator[str]:
    rows = [
        (
            words.title(each.metric),
            published(each),
            f"{words.measured_value(each.measured)} ({words.measured_range(each.measured)})",
            _plain(each.sentence),
        )
        for each in compare_claims(record)
    ]
    rows += [
        (_code(each.claim.metric), published_text(each.claim), "–", _plain(each.reason))
        for each in unmeasured_claims(record)
    ]
    if rows:
        yield "### Published numbers"
        yield _table(("metric", "published", "measured", "what can be said"), rows)


def _latency(record: Record) -> Iterator[str]:
    if record.latency is not None:
        yield "### Latency"
        yield describe_latency(record.latency)
        yield _table(("", "duration", "95 % interval"), latency_rows(record.latency))


def _accuracy(record: Record) -> Iterator[str]:
    sheet = class_sheet(record)
    if sheet is not None:
        yield "### Classes"
        yield sheet.about
        rows = [
            (_code(each.name), *(spelled(*pair) for pair in zip(sheet.columns, each.values, strict=True)))
            for each in sheet.classes[:_SHOWN]
        ]
        yield _table(("worst classes", *(column.title for column in sheet.columns)), rows)
    classes, pairs = worst_classes(record), confusions(record)
    if classes:
        yield "### Classes"
        yield describe_classes(classes)
    if classes and not too_few(classes):
        yield _table(
            ("worst classes", "right", "of", "share"),
            [
                (_code(each.name), words.count(each.right), words.count(each.seen), words.percent(each.share))
                for each in classes[:_SHOWN]
            ],
        )
    if pairs:
        yield _table(
            ("what it is", "what was answered", "times"),
            [(_code(each.label), _code(each.answer), words.count(each.count)) for each in pairs[:_SHOWN]],
        )


def _failures(record: Record) -> Iterator[str]:
    if record.failed:
        yield f"### {words.plural(record.failed, 'failed sample')}"
        rows = [(_code(each.sample), _code(each.reason)) for each in record.failures[:_SHOWN]]
        yield _table(("sample", "reason"), rows)


def _pipeline(record: Record) -> Iterator[str]:
    yield "### Pipeline"
    yield "\n".join(
        f"{index}. **{block.name}** " + ", ".join(_code(f"{each.name}: {each.value}") for each in block.shown)
        for index, block in enumerate(pipeline_blocks(record.plan), 1)
    )


def _again(record: Record) -> Iterator[str]:
    yield "### Run it again"
    yield f"```sh\n{reproduction.command(record.plan)}\n```"
    timing = reproduction.unusual_timing(record.plan)
    if timing is not None:
        yield f"Latency was measured with {_code(timing)}, which is said in Python."
    rows = [(_code(f"sha256:{each.sha256}"), each.role, _code(each.url)) for each in reproduction.files(record.plan)]
    facts = [*reproduction.software(record), *reproduction.machine(record)]
    yield "<details><summary>Files, software and machine</summary>"
    yield f"Plan `{record.plan_digest}`, seed {record.plan.seed}"
    yield _table(("digest", "file", "from"), rows)
    yield _table(("", ""), [(_code(name), _code(text)) for name, text in facts])
    yield "</details>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', _PIPE) for cell in line)} |" for line in lines)


def _code(text: str) -> str:
    """Somebody else's words, inert: code knows no HTML, no links and no mentions."""
    text = re.sub(r"\s+", " ", text).strip() or "–"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _plain(text: str) -> str:
    """Our own sentences, which may quote a name."""
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(mark, entity)
    return re.sub(r"\s+", " ", text)
