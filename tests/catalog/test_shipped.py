"""What ships with the package: thousands of models and claims, each of which becomes a valid manifest."""

import re
from collections import Counter
from pathlib import Path

import pytest

from mlmodelscope.catalog.described import BUILDERS, is_runnable, manifest_text
from mlmodelscope.catalog.facts import SHIPPED, open_facts
from mlmodelscope.catalog.index import open_index
from mlmodelscope.catalog.search import Query, find_entry, search
from mlmodelscope.manifest.load import parse_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.settings import Settings

LARGEST = 3 << 20
DOCS = Path(__file__).parents[2] / "docs" / "catalog.md"


@pytest.fixture(scope="module")
def shipped():
    return list(open_facts(SHIPPED).entries())


def test_thousands_of_models_and_claims_ship_in_a_small_file(shipped):
    assert len(shipped) >= 3000
    assert sum(len(entry.claims) for _, entry in shipped) >= 20_000
    assert SHIPPED.stat().st_size <= LARGEST


def test_the_docs_count_what_ships(shipped):
    text = DOCS.read_text(encoding="utf-8")
    rows = {
        label: (models, claims) for label, models, claims in re.findall(r"\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \|", text)
    }
    models, claims = Counter(), Counter()
    for source, entry in shipped:
        models[source.label] += 1
        claims[source.label] += len(entry.claims)
    assert rows == {label: (f"{models[label]:,}", f"{claims[label]:,}") for label in models}


def test_what_a_source_counts_is_what_it_has(shipped):
    models, claims = Counter(), Counter()
    for source, entry in shipped:
        models[source.label] += 1
        claims[source.label] += len(entry.claims)
    for source in open_facts(SHIPPED).sources:
        assert (source.models, source.claims) == (models[source.label], claims[source.label])


def test_every_model_becomes_a_valid_manifest(shipped):
    # One in forty here, all of them below.
    for source, entry in shipped[::40]:
        _assert_valid(source, entry)


@pytest.mark.nightly
def test_all_models_become_valid_manifests(shipped):
    for source, entry in shipped:
        _assert_valid(source, entry)


def _assert_valid(source, entry):
    manifest = parse_manifest(manifest_text(entry, source), f"{source.label}:{entry.name}")
    assert isinstance(manifest, ModelManifest)
    fitting = [claim for claim in entry.claims if claim.fits]
    assert [claim.value for claim in manifest.claims] == [claim.value for claim in fitting]
    assert manifest.source.graph_path != "model.onnx"
    if entry.builder in BUILDERS:
        assert manifest.source.builder == entry.builder and manifest.source.weights_path.startswith("http")


def test_models_that_timm_and_torchvision_build_have_their_preprocessing_as_steps(shipped):
    seen = 0
    for source, entry in shipped:
        if source.label in ("timm", "torchvision") and entry.task == "classification" and seen < 60:
            seen += 1
            manifest = parse_manifest(manifest_text(entry, source), entry.name)
            names = [
                next(iter(step.model_dump())) if hasattr(step, "model_dump") else step
                for step in manifest.inputs[0].processing
            ]
            assert len(names) >= 4, entry.name
    assert seen == 60


def test_every_claim_has_a_reason_for_its_unit_and_a_place(shipped):
    for _, entry in shipped:
        for claim in entry.claims:
            assert claim.because and re.search(r":\d+$", claim.place)
            assert claim.unit != "percent" or 0 <= float(claim.value) <= 100 or not claim.is_measurable


def test_nothing_of_a_gpl_project_ships(shipped):
    for source in open_facts(SHIPPED).sources:
        assert "gpl" not in source.license.lower() and "mmyolo" not in source.origin
    assert not any("gpl" in entry.code_license.lower() for _, entry in shipped)


def test_models_that_run_here_are_told_from_those_that_do_not(shipped):
    runs = Counter(source.label for source, entry in shipped if is_runnable(entry))
    assert runs["timm"] > 1000 and runs["mmdetection"] == 0


@pytest.fixture
def index(tmp_path):
    found = open_index(Settings(home=tmp_path / "home", cache=tmp_path / "cache"))
    yield found
    found.close()


def test_a_search_finds_a_model_by_parts_of_its_name(index):
    page = search(index, Query("resnet50 a1"))
    assert page.rows[0].reference == "timm:resnet50.a1_in1k"


def test_a_model_is_found_by_its_reference_whatever_the_case(index):
    source, entry = find_entry(index, "keras:resnet50")
    assert (source.label, entry.name) == ("keras", "ResNet50")
