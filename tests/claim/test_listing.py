"""Claims of manifests and sources in one list, recognized wherever they are read."""

import random

import pytest

from claim.claim_world import ELSEWHERE, HELD, OF_NOBODY, TOO_HIGH, check_of, write_claims
from mlmodelscope.catalog.described import key_in, manifest_text
from mlmodelscope.catalog.facts import SHIPPED, open_facts
from mlmodelscope.claim.listing import Wanted, dataset_name, list_claims
from mlmodelscope.claim.status import standings
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.plan.claim_key import key_of
from mlmodelscope.settings import Settings


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """One index for all tests."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def found(tmp_path, monkeypatch, cache):
    """A list of claims, of two manifests and of all sources that ship."""
    folder = write_claims(tmp_path / "own", {"one": [HELD, OF_NOBODY], "two": [TOO_HIGH, ELSEWHERE]})
    monkeypatch.setenv("MLMODELSCOPE_MANIFESTS", str(folder))
    settings = Settings(home=tmp_path / "home", cache=cache)

    def found(known=None, **wanted):
        return list_claims(settings, Wanted(**wanted), known)

    return found


def test_manifests_come_first_then_sources(found):
    page = found(limit=5)
    assert [each.model for each in page.rows[:4]] == ["one@1.0.0", "one@1.0.0", "two@1.0.0", "two@1.0.0"]
    assert page.total > 20_000 and {each.standing.status for each in page.rows} == {"unchecked"}


def test_pages_follow_one_another_without_gap(found):
    whole = found(limit=30).rows
    assert len({(each.key, each.place) for each in whole}) == 30
    for start in (0, 2, 4, 7, 20):
        assert found(limit=5, offset=start).rows == whole[start : start + 5]
    assert found(limit=5, offset=10**9).rows == ()


@pytest.mark.parametrize(
    ("wanted", "claims"),
    [
        ({"model": "one"}, ["top5 100.0 %", "mood 5"]),
        ({"model": "two@1.0.0"}, ["top1 100.0 %", "top1 75.1 %"]),
        ({"model": "one@2.0.0"}, []),
        ({"dataset": "nowhere-val"}, ["top1 75.1 %"]),
        ({"dataset": "pictures", "metric": "top-1"}, ["top1 100.0 %"]),
        ({"text": "two nowhere"}, ["top1 75.1 %"]),
        (
            {"model": "timm:resnet18.a1_in1k", "dataset": "imagenet-val", "metric": "top5"},
            ["top5 91.054 %", "top5 90.086 %"],
        ),
        ({"model": "TIMM:none"}, []),
        ({"source": "keras", "model": "one"}, []),
    ],
)
def test_every_filter_must_hold(found, wanted, claims):
    page = found(**wanted)
    assert [each.claim for each in page.rows][: len(claims)] == claims
    assert bool(page.rows) == bool(claims)


def test_a_status_filters_manifests_and_sources(found):
    own = found(model="one").rows[0]
    other = found(model="timm:resnet18.a1_in1k", metric="top1", dataset="imagenet-val").rows[0]
    known = standings([check_of(own.key), check_of(other.key, verdict="not reproduced", cause="crop")])
    everything = found().total
    assert [each.key for each in found(known, status="reproduced").rows] == [own.key]
    (row,) = found(known, status="not reproduced").rows
    assert row.key == other.key and row.standing.check is not None and row.standing.check.cause == "crop"
    assert found(known, status="unchecked").total == everything - 2
    assert found(known, status="undecided").rows == ()


def test_a_broken_manifest_is_a_problem_and_hides_no_other(found, tmp_path):
    (tmp_path / "own" / "zbroken.yml").write_text("name: broken\ntask: [")
    page = found(model="one")
    assert len(page.rows) == 2 and any("zbroken.yml" in each for each in page.problems)


def test_a_claim_of_a_source_is_the_same_in_the_manifest_that_is_made_of_it():
    """Of every source; the others differ in nothing that keys are made of."""
    chance, checked = random.Random(7), {}
    for source, entry in open_facts(SHIPPED).entries():
        fitting = [each for each in entry.claims[:200] if each.fits]
        if not fitting or (checked.get(source.label, 0) > 3 and chance.random() > 0.004):
            continue
        manifest = parse_manifest(manifest_text(entry, source), "made.yml")
        keys = {key_of(f"{source.label}:{entry.name}", claim) for claim in manifest.claims}
        assert keys == {key_in(entry, each, source) for each in fitting}, entry.name
        checked[source.label] = checked.get(source.label, 0) + 1
    assert set(checked) >= {"timm", "torchvision", "mmpretrain", "mmdetection", "mmsegmentation", "keras"}


@pytest.mark.parametrize(
    ("reference", "name"),
    [
        ("pictures", "pictures"),
        ("Pictures@^1.0", "pictures"),
        ("pictures:test", "pictures"),
        ("a@1:test", "a"),
        ("", ""),
    ],
)
def test_a_dataset_is_named_without_version_and_split(reference, name):
    assert dataset_name(reference) == name
