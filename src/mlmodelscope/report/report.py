"""A record becomes a report: one text in one of several formats."""

from __future__ import annotations

from collections.abc import Callable

from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.manifest.suggest import nearest
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.hashing import hash_file
from mlmodelscope.record.record import Record
from mlmodelscope.record.store import Store
from mlmodelscope.report.bench import write_bench_csv, write_bench_html, write_bench_json, write_bench_markdown
from mlmodelscope.report.html import write_html
from mlmodelscope.report.inspect_log import write_inspect
from mlmodelscope.report.lm_eval import write_lm_eval, write_lm_eval_samples
from mlmodelscope.report.markdown import write_markdown
from mlmodelscope.report.tabular import write_csv, write_json
from mlmodelscope.report.training import (
    write_training_csv,
    write_training_html,
    write_training_json,
    write_training_markdown,
)

FORMATS: dict[str, Callable[[Record, Store, ArtifactStore], str]] = {
    "html": write_html,
    "md": write_markdown,
    "json": write_json,
    "csv": write_csv,
    "lm-eval": write_lm_eval,
    "lm-eval-samples": write_lm_eval_samples,
    "inspect": write_inspect,
}


TRAINING_FORMATS: dict[str, Callable[[Record, Store, ArtifactStore], str]] = {
    "html": write_training_html,
    "md": write_training_markdown,
    "json": write_training_json,
    "csv": write_training_csv,
}


BENCH_FORMATS: dict[str, Callable[[Record, Store, ArtifactStore], str]] = {
    "html": write_bench_html,
    "md": write_bench_markdown,
    "json": write_bench_json,
    "csv": write_bench_csv,
}


def write_report(record: Record, store: Store, artifacts: ArtifactStore, format: str) -> str:
    """The text of a report. Artifacts are where an HTML report finds its pictures; it does without if they are gone."""
    refuse_without_report(record, store, format)
    formats = FORMATS
    if record.training is not None:
        formats = TRAINING_FORMATS
    elif record.bench is not None:
        formats = BENCH_FORMATS
    if format not in formats:
        raise UsageError(
            f"`{format}` is for records of language models, and {record.id} is none",
            hint="--format json has everything of any record",
        )
    return formats[format](record, store, artifacts)


def refuse_without_report(record: Record, store: Store, format: str) -> None:
    """Where there can be none, or its files are not what they were."""
    if format not in FORMATS:
        known = f"known: {', '.join(sorted(FORMATS))}"
        raise UsageError(f"there is no report format `{format}`\n{known}", hint=nearest(format, FORMATS))
    if record.status != "finished":
        raise UsageError(
            f"record {record.id} is not finished: there is nothing to report yet",
            hint="give the same evaluate command again: it resumes where it left off",
        )
    if record.profile is not None:
        raise UsageError(
            f"record {record.id} is a profile, which has a timeline and no answers",
            hint=f"mlmodelscope trace export {record.id} -o {record.id}.html",
        )
    _refuse_damage(record, store)


def _refuse_damage(record: Record, store: Store) -> None:
    """A report of files that are not what they were would look like any other."""
    for file in store.files.known(record.id):
        path = store.files.place(record.id) / file.name
        if path.is_file() and (path.stat().st_size != file.size_bytes or hash_file(path) != file.sha256):
            raise StoreError(
                f"{file.name} of record {record.id} is not what it was: the disk, or somebody, has changed it",
                hint="mlmodelscope db check --repair fetches it where there is a copy; else evaluate again",
            )
