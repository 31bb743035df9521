"""The index: complete or absent, whoever builds it, and whatever happens meanwhile."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from catalog.samples import FORMS, write
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.kept import add_source
from mlmodelscope.catalog.search import Query, claims, find_entry, least_share, search, sources
from mlmodelscope.errors import UsageError
from mlmodelscope.settings import Settings

BUILD = """
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.search import Query, search
from mlmodelscope.settings import Settings
print(search(open_index(Settings.from_environment()), Query(limit=1)).total)
"""


@pytest.fixture
def settings(tmp_path):
    return Settings(home=tmp_path / "home", cache=tmp_path / "cache")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    place = tmp_path_factory.mktemp("index")
    found = open_index(Settings(home=place / "home", cache=place / "cache"))
    yield found
    found.close()


def start(settings):
    environment = {**os.environ, "MLMODELSCOPE_HOME": str(settings.home), "MLMODELSCOPE_CACHE": str(settings.cache)}
    return subprocess.Popen([sys.executable, "-c", BUILD], env=environment, stdout=subprocess.PIPE, text=True)


def indexes(settings):
    return sorted((settings.cache / "catalog").glob("index-*.sqlite"))


def test_two_processes_at_once_build_one_index(settings):
    both = [start(settings), start(settings)]
    said = [process.communicate(timeout=300)[0].strip() for process in both]
    assert said[0] == said[1] and int(said[0]) > 3000
    assert len(indexes(settings)) == 1


def test_a_process_that_is_killed_leaves_no_half_index(settings):
    for pause in (0.3, 0.8):
        process = start(settings)
        time.sleep(pause)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    with open_index(settings) as index:
        assert search(index, Query(limit=1)).total > 3000


@pytest.mark.parametrize("damage", [b"", b"not a database" * 100])
def test_a_damaged_index_is_built_again(settings, damage):
    open_index(settings).close()
    indexes(settings)[0].write_bytes(damage)
    with open_index(settings) as index:
        assert search(index, Query(limit=1)).total > 3000


def test_without_a_cache_the_index_is_in_memory(settings, tmp_path):
    settings.cache.parent.mkdir(exist_ok=True)
    settings.cache.write_text("a file in the place of the folder")
    assert search(open_index(settings), Query(limit=1)).total > 3000


def test_an_sqlite_without_full_text_search_will_do(settings, monkeypatch):
    monkeypatch.setattr("mlmodelscope.catalog.fill._FULL_TEXT", "nothing")
    with open_index(settings) as index:
        assert search(index, Query("resnet50 a1")).rows[0].reference == "timm:resnet50.a1_in1k"


def test_a_new_source_is_in_the_index_at_once(settings, tmp_path):
    open_index(settings).close()
    add_source(settings, "mine", str(write(tmp_path / "source", FORMS["manifests"])))
    with open_index(settings) as index:
        assert [row.reference for row in search(index, Query(source="mine")).rows] == ["mine:net"]
        assert "mine" in [source.label for source in sources(index)]


def test_filters_hold_together(index):
    query = Query(
        task="classification",
        license="apache",
        metric="acc",
        dataset="imagenet-val",
        at_least=least_share("acc", 85),
        max_parameters=100_000_000,
        limit=0,
    )
    page = search(index, query)
    assert 0 < page.total < 200 and page.total == len(page.rows)
    for row in page.rows:
        entry = find_entry(index, row.reference)[1]
        assert entry.parameters <= 100_000_000 and "apache" in entry.weights_license
        assert any(claim.metric == "top1" and claim.number >= 0.85 for claim in entry.claims)


def test_words_of_a_stranger_are_no_query_language(index):
    for text in (
        '"',
        "a OR b",
        "NEAR(",
        "*",
        "name:x",
        "' ; DROP TABLE models",
        "%",
        "\x00",
        "\u2028",
        "x" * 10_000,
    ):
        search(index, Query(text, limit=1))
    assert search(index, Query(architecture="a%z", limit=1)).total == 0
    assert search(index, Query(limit=1)).total > 3000


def test_a_least_value_needs_a_metric(index):
    with pytest.raises(UsageError, match="needs a metric"):
        search(index, Query(at_least=0.5))


def test_claims_are_listed_with_their_conditions(index):
    rows, total = claims(index, Query("resnet18 a1", metric="top1", dataset="imagenet-val"))
    assert total == len(rows) == 2
    assert {row.value for row in rows} == {"73.164", "71.504"} and all("pixels" in row.conditions for row in rows)


def test_a_name_without_its_tag_lists_the_tags(index):
    with pytest.raises(UsageError, match=r"known: timm:resnet50\.a1_in1k"):
        find_entry(index, "timm:resnet50")


def test_the_index_is_read_only(index):
    with pytest.raises(sqlite3.OperationalError):
        index.execute("DELETE FROM models")
