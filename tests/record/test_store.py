"""The store keeps records for good, for several processes, and says plainly when it cannot."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect

import mlmodelscope.record
from mlmodelscope import Options, Record, Settings, Store, evaluate
from mlmodelscope.errors import StoreError, UsageError
from mlmodelscope.record.database import HEAD
from mlmodelscope.record.tables import metadata


@pytest.fixture
def record(settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable) -> Record:
    return evaluate(make_model(), make_dataset(make_pictures()), settings=settings)


def test_a_record_is_found_by_id_by_its_beginning_and_as_the_latest(settings: Settings, record: Record) -> None:
    store = Store(settings)
    assert store.get(record.id) == store.get(record.id[:-2]) == store.get("latest") == record
    with pytest.raises(UsageError, match="there is no record `nothing`"):
        store.get("nothing")


def test_the_latest_is_what_was_answered_with_last(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures())
    first, second = (evaluate(model, dataset, Options(seed=seed), settings=settings).id for seed in (1, 2))
    store = Store(settings)
    assert store.get("latest").id == second
    assert evaluate(model, dataset, Options(seed=1), settings=settings).id == first
    assert store.get("latest").id == first


def test_a_record_made_on_the_way_is_left_out_until_it_is_asked_for(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    model, dataset = make_model(), make_dataset(make_pictures())
    asked_for = evaluate(model, dataset, settings=settings)
    few = Options(limit=4)
    marked = evaluate(model, dataset, few, settings=settings, made_for="sensitivity")
    store = Store(settings)
    assert store.get(marked.id).made_for == "sensitivity" and store.get("latest").id == asked_for.id
    assert [each.id for each in store.newest()] == [asked_for.id]
    assert {each.id for each in store.newest(all_of_them=True)} == {asked_for.id, marked.id}
    assert evaluate(model, dataset, few, settings=settings, made_for="replicate").made_for == "sensitivity"
    assert evaluate(model, dataset, few, settings=settings).made_for is None
    assert store.get("latest").id == marked.id and [row["made_for"] for row in store.list()] == [None, None]


def test_a_record_that_was_asked_for_is_written_without_a_purpose(settings: Settings, record: Record) -> None:
    marked = record.model_copy(update={"made_for": "study"})
    assert "made_for" not in record.model_dump_json() and Record.model_validate_json(marked.model_dump_json()) == marked


def test_a_name_that_begins_several_records_is_refused_with_their_ids(
    settings: Settings, make_model: Callable, make_dataset: Callable, make_pictures: Callable
) -> None:
    folder = make_pictures()
    ids = [evaluate(make_model(), make_dataset(folder), Options(seed=seed), settings=settings).id for seed in (1, 2)]
    with pytest.raises(UsageError, match=ids[0]):
        Store(settings).get("20")


def test_records_are_listed_and_filtered(settings: Settings, record: Record) -> None:
    store = Store(settings)
    (row,) = store.list(model="toy", status="finished")
    assert (
        row["id"] == record.id
        and row["samples"] == 12
        and row["top1_low"] <= row["headline"]["value"] <= row["top1_high"]
    )
    assert store.list(model="other") == store.list(dataset="other") == store.list(status="running") == []


def test_a_deleted_record_is_gone_with_its_files(settings: Settings, record: Record) -> None:
    store = Store(settings)
    store.delete(record)
    assert store.list() == [] and not store.folder(record.id).exists()


def test_an_exported_record_is_complete(settings: Settings, record: Record, tmp_path: Path) -> None:
    Store(settings).export(record, tmp_path / "record.zip")
    with zipfile.ZipFile(tmp_path / "record.zip") as packed:
        assert sorted(packed.namelist()) == ["batches.parquet", "record.json", "samples.parquet"]
        assert Record.model_validate_json(packed.read("record.json")) == record


def test_samples_can_be_read_filtered(settings: Settings, record: Record) -> None:
    store = Store(settings)
    everything = store.samples(record)
    wrong = store.samples(record, only_wrong=True)
    assert everything.num_rows == 12
    assert wrong.num_rows == sum(not right for right in everything["right"].to_pylist())


def test_the_migrations_lead_to_the_tables_that_the_code_uses(settings: Settings) -> None:
    Store(settings)
    found = inspect(create_engine(f"sqlite:///{settings.home / 'records.sqlite'}"))
    for table in metadata.tables.values():
        assert {column["name"] for column in found.get_columns(table.name)} == {column.name for column in table.columns}
        assert {index["name"] for index in found.get_indexes(table.name)} == {index.name for index in table.indexes}


def test_the_newest_migration_is_the_one_the_code_expects() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(mlmodelscope.record.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_a_database_of_a_newer_release_is_refused(settings: Settings) -> None:
    import sqlite3

    Store(settings).close()
    with sqlite3.connect(settings.home / "records.sqlite") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="written by a newer mlmodelscope"):
        Store(settings)


def test_a_file_that_is_no_database_is_refused(settings: Settings) -> None:
    settings.home.mkdir(parents=True, exist_ok=True)
    (settings.home / "records.sqlite").write_bytes(b"this is not a database" * 100)
    with pytest.raises(StoreError, match="not a database"):
        Store(settings)


def test_a_home_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("in the way")
    with pytest.raises(StoreError, match="cannot use"):
        Store(Settings(tmp_path / "home", tmp_path / "cache"))
