"""A bench's record made readable: how fast, at which load, and whether that can be believed."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.record.bench import FIRST, BenchRecord, Bound, LoadRecord, TokenRecord
from mlmodelscope.record.latencies import csv_lines, load_latencies
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import charts, reproduction, words
from mlmodelscope.report.html import render, style
from mlmodelscope.types import Interval

Row = tuple[str, str, str]
"""Name, value, 95 % interval."""


def lede(record: Record) -> str:
    """The result in one sentence."""
    bench = bench_of(record)
    if bench.rate is not None:
        rate, share = bench.rate.rate_qps, f"{100 * bench.rate.percentile:g}\N{NO-BREAK SPACE}%"
        bounds = [words.duration(bench.rate.bound_s)] if bench.rate.bound_s is not None else []
        bound = " and ".join([*bounds, *(f"{each.what} {words.duration(each.bound_s)}" for each in bench.bounds)])
        if rate is None:
            return f"No rate keeps {share} of the queries below {bound}: {bench.rate.ended}."
        return f"{words.significant(rate)} queries a second keep {share} of them below {bound}."
    if bench.sweep is not None and bench.measured is not None:
        speed = words.significant(bench.measured.samples_per_s)
        return f"The optimal batch size is {bench.sweep.optimal_batch}, with {speed} samples a second."
    if bench.cold:
        first = median(each.start_s + each.load_s + each.first_s for each in bench.cold)
        return f"The first answer of a fresh process takes {words.duration(first)}, at the median."
    if bench.loadgen is not None:
        return f"MLPerf's LoadGen says {bench.loadgen.get('result_validity', 'nothing')}."
    if bench.measured is None:
        return "Nothing was answered."
    if bench.measured.tokens is not None and bench.measured.tokens.written:
        return _tokens_lede(bench, bench.measured.tokens)
    if bench.scenario == "offline":
        return f"{words.significant(bench.measured.samples_per_s)} samples a second."
    p50 = bench.measured.percentiles_s.get("p50")
    return (
        f"{words.duration(p50.value)} at the median." if p50 else f"{words.duration(bench.measured.mean_s)} on average."
    )


def _tokens_lede(bench: BenchRecord, tokens: TokenRecord) -> str:
    speed = f"{words.significant(tokens.written_per_s)} tokens a second"
    first = tokens.first_s.get("p50")
    if bench.scenario == "offline" or first is None:
        return f"{speed}."
    return f"The first token after {words.duration(first.value)} at the median, {speed}."


def rows(record: Record) -> list[Row]:
    """The numbers, for every format."""
    bench = bench_of(record)
    found: list[Row] = []
    if bench.rate is not None and bench.rate.rate_qps is not None:
        found.append(("highest rate", f"{words.significant(bench.rate.rate_qps)} queries/s", ""))
    if bench.sweep is not None:
        found.append(("optimal batch size", str(bench.sweep.optimal_batch), ""))
    if bench.measured is not None:
        found += [*_token_rows(bench, bench.measured), *_latency_rows(bench.measured)]
        if bench.first_s:
            found.append(("the very first call", words.duration(bench.first_s[0]), ""))
        found += _cost_rows(bench, bench.measured)
    if bench.cold:
        found += _cold_rows(bench)
    for name, value in (bench.loadgen or {}).items():
        if name.startswith("result_"):
            found.append(
                (name.removeprefix("result_").removesuffix("_ns").replace("_", " "), _loadgen_value(name, value), "")
            )
    if bench.ended:
        found.append(("ended because", bench.ended, ""))
    found.append(("verdict", bench.stability.verdict, ""))
    return found


def _loadgen_value(name: str, value: Any) -> str:
    return words.duration(value / 1e9) if name.endswith("_ns") and isinstance(value, (int, float)) else str(value)


def _token_rows(bench: BenchRecord, measured: LoadRecord) -> list[Row]:
    """What there is to say of a language model's tokens."""
    tokens, speed = measured.tokens, bench.tokens_per_s
    if tokens is None:
        return []
    found: list[Row] = []
    found += _percentile_rows("time to first token", tokens.first_s, tokens.first_refused)
    found += _percentile_rows("time per output token", tokens.each_s, tokens.each_refused)
    if tokens.written:
        between = f"{words.significant(speed.low)} – {words.significant(speed.high)}" if speed is not None else ""
        found.append(("tokens written", f"{words.significant(tokens.written_per_s)} tokens/s", between))
    if tokens.read_per_s is not None:
        found.append(("tokens read", f"{words.significant(tokens.read_per_s)} tokens/s", ""))
    for bound in bench.bounds:
        what = f"{bound.what}, p{100 * bound.percentile:g} within {words.duration(bound.bound_s)}"
        because = f": {bound.because}" if bound.because else ""
        found.append((what, bound.verdict, f"{bound.source}{because}"))
    found += [
        (f"energy a token, {meter}", f"{words.significant(joules)} J", "")
        for meter, joules in tokens.energy_j_per_token.items()
    ]
    length = f"{tokens.read / tokens.texts:.1f} tokens read, " if tokens.read is not None else ""
    found.append(
        ("texts", f"{words.count(tokens.texts)}, {length}{tokens.written / tokens.texts:.1f} written", "a text")
    )
    return found


def _percentile_rows(title: str, found: dict[str, Interval], refused: dict[str, str]) -> list[Row]:
    if not found:
        return [(title, "–", next(iter(refused.values())))] if refused else []
    unit = words.time_unit(next(iter(found.values())).value)
    rows = [
        (f"{title} {name}", words.duration(each.value, unit), words.duration_range(each, unit))
        for name, each in found.items()
        if name in ("p50", "p90", "p99")
    ]
    missing = next((name for name in ("p90", "p99") if name in refused), None)
    return [*rows, (f"{title} {missing}", "–", refused[missing])] if missing else rows


def _latency_rows(measured: LoadRecord) -> list[Row]:
    middle = measured.percentiles_s.get("p50")
    unit = words.time_unit(middle.value if middle else measured.mean_s)
    found = [
        (f"latency {name}", words.duration(each.value, unit), words.duration_range(each, unit))
        for name, each in measured.percentiles_s.items()
    ]
    if measured.refused:
        name, reason = next(iter(measured.refused.items()))
        others = " and higher" if len(measured.refused) > 1 else ""
        found.append((f"latency {name}{others}", "–", reason))
    found.append(("mean", words.duration(measured.mean_s, unit), ""))
    found.append(("trimmed mean", words.duration(measured.trimmed_mean_s, unit), ""))
    return found


def _cost_rows(bench: BenchRecord, measured: LoadRecord) -> list[Row]:
    speed = bench.throughput
    between = f"{words.significant(speed.low)} – {words.significant(speed.high)}" if speed is not None else ""
    found = [("throughput", f"{words.significant(measured.samples_per_s)} samples/s", between)]
    if measured.rate_qps is not None:
        found.append(("arrivals", f"{words.significant(measured.rate_qps)} queries/s", ""))
    if measured.queue_most is not None:
        found.append(("longest queue", f"{words.count(measured.queue_most)} waiting", ""))
    if measured.late_p99_s is not None:
        found.append(("issued late, p99", words.duration(measured.late_p99_s), ""))
    if measured.unanswered:
        found.append(("never begun", words.count(measured.unanswered), ""))
    if measured.cpu_s_per_sample is not None:
        found.append(("CPU time a sample", words.duration(measured.cpu_s_per_sample), ""))
    if measured.peak_memory_bytes is not None:
        found.append(("peak memory", words.size(measured.peak_memory_bytes), ""))
    found += [
        (f"energy a sample, {meter}", f"{words.significant(joules)} J", "")
        for meter, joules in measured.energy_j_per_sample.items()
    ]
    found.append(
        ("queries", f"{words.count(measured.queries)} of {_samples(measured)}, batch {measured.batch_size}", "")
    )
    return found


def _samples(measured: LoadRecord) -> str:
    return words.plural(measured.samples_per_query, "sample")


def _cold_rows(bench: BenchRecord) -> list[Row]:
    found = []
    for name, what in (
        ("start_s", "start the process, connect"),
        ("load_s", "import the framework, load the model"),
        ("first_s", "first call"),
        ("second_s", "second call"),
        ("steady_s", "later calls"),
    ):
        values = [value for each in bench.cold if (value := getattr(each, name)) is not None]
        if values:
            unit = words.time_unit(median(values))
            least, most = (words.significant(value / unit[0]) for value in (min(values), max(values)))
            found.append((what, words.duration(median(values), unit), f"{least} … {most} {unit[1]} (least, most)"))
    return found


def run_rows(record: Record) -> list[tuple[str, ...]]:
    """What each run was and came to, where several kinds of run were made."""
    bench = bench_of(record)
    if bench.sweep is None and bench.rate is None:
        return []
    found: list[tuple[str, ...]] = []
    for run in bench.runs:
        p90, p99 = run.percentiles_s.get("p90"), run.percentiles_s.get("p99")
        row = (
            words.significant(run.samples_per_s),
            words.duration(run.trimmed_mean_s),
            words.duration(p90.value) if p90 else "–",
            words.duration(p99.value) if p99 else "–",
            words.size(run.peak_memory_bytes) if run.peak_memory_bytes is not None else "–",
        )
        if bench.sweep is not None:
            found.append((str(run.batch_size), *row))
        else:
            found.append((words.significant(run.rate_qps or 0), *row, words.count(run.unanswered)))
    return found


def run_head(record: Record) -> tuple[str, ...]:
    head = ("samples/s", "trimmed mean", "p90", "p99", "peak memory")
    return ("batch size", *head) if bench_of(record).sweep is not None else ("queries/s", *head, "never begun")


def command(record: Record) -> str:
    """The bench as one would type it."""
    bench, plan = bench_of(record), record.plan
    subset = plan.dataset.subset.model_copy(update={"count": None})
    plain = plan.model_copy(update={"dataset": plan.dataset.model_copy(update={"subset": subset})})
    text = (
        reproduction.command(plain).replace("mlmodelscope evaluate", "mlmodelscope bench", 1).removesuffix(" --again")
    )
    if bench.random is not None:
        text = text.replace(f" {plan.dataset.reference}", " --random", 1)
        for name, shape in bench.random.items():
            text += f" --shape {name}{'=' if name else ''}{','.join(map(str, shape))}"
    text += f" --scenario {bench.scenario} --budget {bench.budget_s:g}"
    measured = bench.measured
    if bench.scenario == "server" and measured is not None and measured.rate_qps is not None:
        text += f" --rate {measured.rate_qps:g}"
    if bench.scenario == "multi-stream" and measured is not None:
        text += f" --streams {measured.samples_per_query}"
    if bench.rate is not None:
        bound = f" --bound {1000 * bench.rate.bound_s:g}" if bench.rate.bound_s is not None else ""
        text += f"{bound} --percentile {100 * bench.rate.percentile:g}"
    text += "".join(dict.fromkeys(map(_limit_words, bench.bounds)))
    return text + (" --end-to-end" if bench.end_to_end else "") + (" --loadgen" if bench.loadgen is not None else "")


def _limit_words(bound: Bound) -> str:
    """The option that asked for a bound."""
    if bound.rule is not None:
        return f" --mlperf {bound.rule}"
    name = "--ttft" if bound.what == FIRST else "--tpot"
    return f" {name} {1000 * bound.bound_s:g}"


def write_bench_markdown(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    bench, plan = bench_of(record), record.plan
    lines = [f"## {plan.model.reference}, {bench.scenario}", "", f"{lede(record)} {_verdict(bench)}", ""]
    lines += [f"> **Note:** {note}" for note in record.notes]
    lines += ["", "| | measured | 95 % interval |", "|---|---|---|"]
    lines += [f"| {name} | {value} | {between} |" for name, value, between in rows(record)]
    table = run_rows(record)
    if table:
        lines += ["", f"| {' | '.join(run_head(record))} |", "|---" * len(run_head(record)) + "|"]
        lines += [f"| {' | '.join(row)} |" for row in table]
    lines += ["", "```sh", command(record), "```"]
    return "\n".join(lines) + "\n"


def _verdict(bench: BenchRecord) -> str:
    text = str(bench.stability)
    return f"{text[0].upper()}{text[1:]}."


def write_bench_html(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    bench = bench_of(record)
    page: dict[str, Any] = {
        "style": style(),
        "words": words,
        "sections": [("numbers", "Numbers"), ("latency", "Latency"), ("again", "Run it again")],
        "lede": lede(record),
        "predictor": record.plan.predictor.name or "Python",
        "record": record,
        "plan": record.plan,
        "bench": bench,
        "verdict": _verdict(bench),
        "rows": rows(record),
        "run_head": run_head(record),
        "run_rows": run_rows(record),
        "chart": _chart(record, store),
        "command": command(record),
        "timing": None,
        "files": reproduction.files(record.plan),
        "software": reproduction.software(record),
        "machine": reproduction.machine(record),
        "plan_json": record.plan.model_dump_json(indent=2),
    }
    return render("bench.html.mako", page)


def _chart(record: Record, store: Store) -> str:
    """A histogram of the latencies that the numbers are of."""
    measured = bench_of(record).measured
    if measured is None:
        return ""
    seconds = [
        value / 1e9
        for raw, run in zip(load_latencies(store.folder(record.id)), bench_of(record).runs, strict=True)
        if run.batch_size == measured.batch_size and run.rate_qps == measured.rate_qps
        for value in raw.latencies_ns()
    ]
    size, unit = words.time_unit(sorted(seconds)[len(seconds) // 2])
    lines = [
        (name, each.value / size) for name, each in measured.percentiles_s.items() if name in ("p50", "p90", "p99")
    ]
    return charts.histogram([value / size for value in seconds], lines, unit)


def write_bench_json(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    return json.dumps({"record": record.model_dump(mode="json")}, indent=2) + "\n"


def write_bench_csv(record: Record, store: Store, artifacts: ArtifactStore) -> str:
    """A line for each query."""
    return "".join(csv_lines(load_latencies(store.folder(record.id))))


def bench_of(record: Record) -> BenchRecord:
    assert record.bench is not None
    return record.bench
