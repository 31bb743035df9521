"""§II-F of the second paper: how the machine is set changes latency, and vector instructions change bits as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mlmodelscope.analysis.stack_comparison import compare_stacks
from mlmodelscope.errors import MLModelScopeError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import Framework, HardwareManifest, ModelManifest
from mlmodelscope.plan.instruction_set import LEVELS, is_obedient
from mlmodelscope.plan.match import normal_architecture
from mlmodelscope.plan.options import Options
from mlmodelscope.provision.machine import available_cores, describe
from mlmodelscope.provision.machine.facts import facts_of
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report import words
from mlmodelscope.study.paper import FACTS, SECOND
from mlmodelscope.study.study import (
    DEFAULT_DATASET,
    DEFAULT_MODEL,
    Column,
    Outcome,
    Request,
    Table,
    about,
    now,
    remembered,
    study,
)

_OTHER = "opencv"
"""Runs ONNX files and keeps to instruction sets."""
Settings = Mapping[str, Any]


@study("machine-settings", "Settings of the machine", (SECOND, "§II-F"), options=("batch_size",))
def machine_settings(request: Request) -> Outcome:
    started = now()
    options = Options(
        batch_size=request.batch_sizes[0] if request.batch_sizes else 1,
        threads=available_cores(),
        limit=request.limit,
        stratified=request.limit is not None,
    )
    tables, records = [], []
    rows, made = _measured(request, options, {**_of_the_machine(), **_of_instruction_sets()})
    records += made
    notes, predictor = [_ALONE], made[0].plan.predictor.name
    other = None if is_obedient(predictor) else _in_opencv(request)
    if other is not None:
        rows = [row for row in rows if row["setting"] not in _of_instruction_sets()]
        notes.append(f"{predictor} chooses its kernels by the processor and cannot be told; {_OTHER} can.")
    tables.append(_table("settings", "as set by a hardware manifest", rows))
    if other is not None:
        rows, made_there = _measured(other, options, _of_instruction_sets())
        tables.append(_table("instruction_sets", f"instruction sets, the same file in {_OTHER}", rows))
        records += made_there
    return Outcome(
        about(made[0]),
        tuple(tables),
        FACTS["machine-settings"],
        (*notes, *remembered(records, started)),
        records=tuple(dict.fromkeys(record.id for record in records)),
    )


_ALONE = (
    "Each row changes one setting alone, and the machine is set back afterwards. Governor, turbo and SMT concern "
    "everybody on the machine: they need root and --trust."
)


def _of_the_machine() -> dict[str, Settings]:
    found: dict[str, Settings] = {
        "governor performance": {"governor": "performance"},
        "turbo off": {"turbo": "off"},
        "SMT off": {"smt": "off"},
    }
    return {**found, "1 thread": {"threads": 1}}


def _of_instruction_sets() -> dict[str, Settings]:
    """Those that this machine has; the most is what it uses anyway."""
    facts = facts_of(describe(), "")
    if normal_architecture(facts.architecture) != "x86_64":
        return {}
    there = [level.name for level in LEVELS if level.flag in facts.flags]
    return {f"up to {name}": {"instruction_sets": name} for name in there[:-1]}


def _in_opencv(request: Request) -> Request | None:
    """The same model as OpenCV's, where it is a file that OpenCV reads and no stack was asked for."""
    model = find_manifest(ModelManifest, request.model) if isinstance(request.model, str) else request.model
    if not isinstance(model, ModelManifest) or request.software is not None or model.source is None:
        return None
    if not (model.source.graph_path or "").endswith(".onnx"):
        return None
    dataset = request.dataset if request.dataset is not None or request.model != DEFAULT_MODEL else DEFAULT_DATASET
    return replace(request, model=model.model_copy(update={"framework": Framework(name=_OTHER)}), dataset=dataset)


def _measured(
    request: Request, options: Options, cases: Mapping[str, Settings]
) -> tuple[list[dict[str, Any]], list[Record]]:
    """A row for the machine as it is and one for each case: what was measured, or why it could not be."""
    names, records, refused = ["as it is"], [request.evaluate(options)], dict[str, str]()
    for name, chosen in cases.items():
        mine = replace(options, threads=1) if "threads" in chosen else options
        try:
            records.append(request.evaluate(mine, hardware=_manifest(chosen)))
            names.append(name)
        except MLModelScopeError as error:
            refused[name] = error.message.splitlines()[0]
    store = Store(request.settings)
    try:
        compared, _ = compare_stacks(records, store)
    finally:
        store.close()
    told = zip(records, compared, strict=True)
    found = {name: _row(record, other, records[0]) for name, (record, other) in zip(names, told, strict=True)}
    ordered = ["as it is", *cases]
    return [{"setting": name, **found.get(name, {"refused": refused.get(name)})} for name in ordered], records


def _manifest(chosen: Settings) -> HardwareManifest:
    found = load_manifest({"name": "study", "version": "1.0.0", "settings": dict(chosen)})
    assert isinstance(found, HardwareManifest)
    return found


def _row(record: Record, compared: Any, first: Record) -> dict[str, Any]:
    latency, base = (each.latency.p50_s if each.latency else None for each in (record, first))
    return {
        "latency_s": latency.value if latency else None,
        "latency_low_s": latency.low if latency else None,
        "latency_high_s": latency.high if latency else None,
        "ratio": latency.value / base.value if latency and base else None,
        "same_answer": compared.same_classes,
        "same_bits": compared.same_scores,
        "samples": compared.samples,
        "record": record.id,
    }


def _table(name: str, title: str, rows: list[dict[str, Any]]) -> Table:
    columns = tuple(_columns())
    return Table(name, title, columns, tuple(rows))


def _columns() -> Iterator[Column]:
    yield Column("setting", "setting")
    yield Column("latency_s", "latency", words.duration)
    yield Column("latency_low_s", "from (95 %)", words.duration)
    yield Column("latency_high_s", "to", words.duration)
    yield Column("ratio", "against as it is", lambda ratio: f"{ratio:.2f} ×")
    yield Column("same_answer", "same answer")
    yield Column("same_bits", "same bits")
    yield Column("samples", "samples")
    yield Column("refused", "why not")
