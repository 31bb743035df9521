"""A record to be looked through: its numbers, its samples, its classes, where it was made, and once more."""

from __future__ import annotations

import random
import re
import shutil
from datetime import UTC, datetime
from typing import Any

import pytest
from playwright.sync_api import expect

from mlmodelscope.record.record import Record, new_record_id
from mlmodelscope.record.samples import BATCHES, TableWriter, schema_of
from mlmodelscope.record.store import Store
from mlmodelscope.settings import Settings
from mlmodelscope.task.task import task_named

from .conftest import Site, Visit

MANY = 50_000


@pytest.fixture(scope="module")
def many(site: Site, record: str) -> str:
    """A record of fifty thousand samples: the real one's, with others in their place."""
    store = Store(Settings(site.place / "server", site.place / "cache"))
    model = store.get(record)
    found = model.model_copy(update={"id": new_record_id(), "samples": MANY, "failed": 0})
    folder = store.files.place(found.id)
    folder.mkdir(parents=True)
    table, batches = (TableWriter(folder / f"{name}.parquet", kind) for name, kind in _TABLES)
    chance = random.Random(0)
    for number in range(MANY):
        right = chance.random() < 0.75
        classes = [number % 1000 if right else (number + 1) % 1000, 3, 4, 5, 6]
        score = chance.random()
        name = f"n{number % 1000:04d}/{number:05d}.jpg"
        table.add(name, "0" * 64, number % 1000, classes, [score, 0, 0, 0, 0], right, None, None)
        batches.add(number, 1, 1_000_000 + number)
    table.finish()
    batches.finish()
    store.add(found)
    store.close()
    return found.id


_TABLES = (("samples", schema_of(task_named("classification"))), ("batches", BATCHES))


def test_the_numbers_come_with_intervals_and_with_what_was_claimed(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}")
    expect(page.get_by_role("heading", name="Top-1")).to_be_visible()
    expect(page.get_by_text(re.compile(r"^95 % between [\d.]+ and [\d.]+ %$")).first).to_be_visible()
    expect(page.get_by_text("The published top-1 of 75.1 % is of imagenet-val")).to_be_visible()
    expect(page.locator("figure svg")).to_have_count(2)  # latency, and how sure it may be


def test_samples_are_found_and_shown(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}?tab=samples")
    rows = page.get_by_role("rowgroup").get_by_role("row")
    expect(rows.first.get_by_role("img").or_(rows.first.locator("img"))).to_be_visible()
    assert page.evaluate("[...document.querySelectorAll('[role=row] img')].every((each) => each.naturalWidth > 0)")
    page.get_by_role("searchbox", name="Find samples").fill("strawberry")
    expect(rows).to_have_count(1)
    expect(page).to_have_url(re.compile("q=strawberry"))
    page.get_by_role("button", name="Clear").click()
    page.get_by_role("button", name="wrong, and sure of it").click()
    expect(page).to_have_url(re.compile("only=wrong&above=0.9"))
    page.get_by_label("Score above").fill("0.5")
    expect(rows.first).to_contain_text("wrong")
    expect(page.get_by_text(re.compile(r"^\d+ of 70 samples$"))).to_be_visible()
    page.get_by_role("searchbox", name="Find samples").fill("nothing is called that")
    expect(page.get_by_text("No matches.")).to_be_visible()


def test_a_sample_is_looked_at_and_a_link_shows_others_the_same(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}?tab=samples")
    page.get_by_role("button", name="foolbox/imagenet_01_559.jpg").click()
    dialog = page.get_by_role("dialog", name="foolbox/imagenet_01_559.jpg")
    expect(dialog.get_by_role("list", name="Answers").get_by_role("listitem")).to_have_count(5)
    expect(dialog.get_by_text("folding chair ✓")).to_be_visible()
    expect(dialog.get_by_role("img", name="foolbox/imagenet_01_559.jpg")).to_be_visible()
    assert not visit.violations()
    address = page.url
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.goto(address)
    expect(dialog).to_be_visible()


def test_samples_are_walked_through_by_buttons_and_arrow_keys(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}?tab=samples&sort=score")
    page.get_by_role("rowgroup").get_by_role("row").first.get_by_role("button").click()
    expect(page.get_by_text("1 of 70", exact=True)).to_be_visible()
    expect(page.get_by_role("button", name="Previous sample")).to_have_attribute("aria-disabled", "true")
    first = page.get_by_role("dialog").get_by_role("heading").inner_text()
    page.get_by_role("button", name="Next sample").click()
    expect(page.get_by_text("2 of 70", exact=True)).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("3 of 70", exact=True)).to_be_visible()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")  # there is none before the first
    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(first)
    assert not visit.violations() and not visit.sticks_out()


def test_the_walk_goes_on_across_the_pages_of_a_long_list(visit: Visit, many: str) -> None:
    page = visit.to(f"/records/{many}?tab=samples&sample=n0099%2F00099.jpg")
    expect(page.get_by_text("100 of 50,000", exact=True)).to_be_visible()
    for place in range(101, 104):
        page.get_by_role("button", name="Next sample").click()
        expect(page.get_by_text(f"{place} of 50,000", exact=True)).to_be_visible()


def test_confidence_shows_how_many_samples_a_bar_stands_for(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}")
    chart = page.get_by_role("img", name=re.compile("Chart: confidence-"))
    expect(chart).to_be_visible()
    counts = [int(each) for each in chart.locator("text").all_text_contents() if each.isdigit()]
    assert page.get_by_text("95 % intervals of the accuracy").is_visible() and counts
    with page.expect_download() as saved:
        page.locator("figure", has=chart).get_by_role("button", name="CSV").click()
    head = saved.value.path().read_text().splitlines()[0]
    assert "count" in head and "least" in head and "most" in head
    labels = page.get_by_role("img", name=re.compile("Chart: latency-")).locator("text").all_text_contents()
    assert {"median", "90 %", "99 %"} <= set(labels)


def test_the_dataset_of_a_record_leads_to_its_page(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}")
    page.get_by_role("heading", level=1).get_by_role("link", name="imagenet-70").click()
    expect(page).to_have_url(re.compile("/datasets/imagenet-70$"))


def test_fifty_thousand_samples_scroll(visit: Visit, many: str) -> None:
    asked: list[str] = []
    visit.page.on("request", lambda request: asked.append(request.url) if "/samples?" in request.url else None)
    page = visit.to(f"/records/{many}?tab=samples")
    expect(page.get_by_text("50,000 samples", exact=True)).to_be_visible()
    list_ = page.get_by_role("rowgroup")
    list_.evaluate("(each) => each.scrollTo(0, each.scrollHeight)")
    expect(page.get_by_role("button", name="n0999/49999.jpg")).to_be_visible()
    assert list_.get_by_role("row").count() < 60 and len(asked) < 6
    list_.evaluate("(each) => each.scrollTo(0, each.scrollHeight / 2)")
    expect(page.get_by_role("button", name=re.compile(r"\D250\d\d\.jpg$"))).not_to_have_count(0)
    page.get_by_role("combobox", name="Order of the samples").select_option("slowest first")
    expect(list_.get_by_role("row").first).to_contain_text("n0999/49999.jpg")
    # Nobody has pictures of these: a quiet place stands for each, and not every one was asked for.
    expect(page.locator("[title^='there is no sample']").first).to_be_visible()


def test_classes_lead_to_the_samples_that_were_mixed_up(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}?tab=classes")
    expect(page.get_by_role("columnheader", name="95 % interval")).to_be_visible()
    page.get_by_role("searchbox", name="Find a class").fill("wall clock")
    expect(page.get_by_role("row", name=re.compile("wall clock 0 of 1"))).to_be_visible()
    page.get_by_role("list", name="Most confused pairs").get_by_role("link", name=re.compile("wall clock as")).click()
    expect(page.get_by_role("rowgroup").get_by_role("row")).to_have_count(1)
    expect(page.get_by_role("button", name=re.compile("wall clock taken for .*: show all"))).to_be_visible()


def test_a_record_is_taken_along_in_every_form(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}")
    for name in ("HTML report", "JSON", "CSV", "Parquet", "Reference log", "Bundle"):
        page.get_by_role("button", name="Download").click()
        with page.expect_download() as saved:
            page.get_by_role("dialog").get_by_role("button", name=name).click()
        assert saved.value.path().stat().st_size > 500
    page.route("**/log", lambda route: route.fulfill(status=503, json={"title": "Busy", "detail": "no disk today"}))
    page.get_by_role("button", name="Download").click()
    page.get_by_role("button", name="Reference log").click()
    expect(page.get_by_role("alert")).to_contain_text("no disk today")


def test_it_says_where_and_with_what_and_is_run_again(visit: Visit, record: str) -> None:
    page = visit.to(f"/records/{record}?tab=environment")
    for word in ("Processor", "Architecture", "onnxruntime", "Batch size"):
        expect(page.get_by_text(word, exact=True).first).to_be_visible()
    expect(page.get_by_text("mlmodelscope evaluate efficientnet-lite0@1.0.0")).to_be_visible()
    expect(
        page.get_by_role("row", name=re.compile("^model manifest efficientnet-lite0 1.0.0 [0-9a-f]{64}"))
    ).to_be_visible()
    page.get_by_role("button", name="Run again").click()
    expect(page).to_have_url(re.compile("/evaluations/e"))


def test_who_may_only_read_is_offered_nothing_else(visit: Visit, site: Site, record: str) -> None:
    visit.sign_in(site, "read")
    page = visit.to(f"/records/{record}")
    expect(page.get_by_role("button", name="Download")).to_be_visible()
    expect(page.get_by_role("button", name="Run again")).to_have_count(0)


def test_a_bench_says_whether_it_can_be_believed(visit: Visit, site: Site) -> None:
    page = visit.to(f"/records/{_made(site, 'bench', scenario='single-stream', budget_s=0.5, processes=1)}")
    expect(page.get_by_text("Throughput")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("p50"))).to_be_visible()
    expect(page.get_by_text(re.compile("quiet enough|Unstable"))).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Chart: percentiles-"))).to_be_visible()
    assert not visit.violations() and not visit.sticks_out()


def test_the_runs_of_a_sweep_are_drawn_over_the_batch_size(visit: Visit, site: Site) -> None:
    page = visit.to(f"/records/{_made(site, 'bench', scenario='sweep', budget_s=0.5)}")
    for title in ("Throughput by batch size", "Latency by batch size"):
        expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_role("img", name=re.compile("Chart: throughput-"))).to_be_visible()
    visit.page.set_viewport_size({"width": 320, "height": 700})
    assert not visit.violations() and not visit.sticks_out()


def test_a_profile_leads_to_its_trace(visit: Visit, site: Site) -> None:
    record = _made(site, "profile", level="model", runs=1)
    page = visit.to(f"/records/{record}")
    link = page.get_by_role("link", name="See where the time goes")
    expect(link).to_have_attribute("href", re.compile("^/traces/[0-9a-f]{32}$"))
    expect(page.get_by_role("tab", name="Samples")).to_have_count(0)
    assert not visit.violations()
    page = visit.to(f"/records/{_made(site, 'profile', level='framework', runs=8)}")
    expect(page.get_by_role("columnheader", name="95 % interval")).to_be_visible()
    expect(page.get_by_role("cell", name=re.compile("slower|quicker|no difference seen")).first).to_be_visible()


def _made(site: Site, kind: str, **arguments: Any) -> str:
    (asked,) = site.client().ask({"kind": kind, "model": "toy", "dataset": "pictures", "arguments": arguments})
    return str(asked.wait().record().id)


def test_a_record_that_was_interrupted_says_so(visit: Visit, site: Site, record: str) -> None:
    store = Store(Settings(site.place / "server", site.place / "cache"))
    known = store.get(record)
    facts = {"id": new_record_id(), "status": "running", "created_at": datetime.now(UTC), "plan_digest": "1" * 64}
    facts |= {name: getattr(known, name) for name in ("plan", "machine", "worker_version", "worker_digest")}
    store.add(Record(**facts))
    store.close()
    page = visit.to(f"/records/{facts['id']}")
    expect(page.get_by_text("It was interrupted before it had all samples.")).to_be_visible()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    expect(page.get_by_role("button", name="Download")).to_have_count(0)


def test_boxes_that_a_detector_found_are_drawn_over_the_sample(visit: Visit, site: Site, record: str) -> None:
    store = Store(Settings(site.place / "server", site.place / "cache"))
    known = store.get(record)
    plan = known.plan.model_copy(update={"task": "object_detection"})
    found = known.model_copy(update={"id": new_record_id(), "samples": 1, "plan": plan, "metrics": {}, "details": {}})
    folder = store.files.place(found.id)
    folder.mkdir(parents=True)
    table = TableWriter(folder / "samples.parquet", schema_of(task_named("classification")))
    boxes = '[{"box": [0.1, 0.1, 0.8, 0.9], "label": "chair", "score": 0.87}]'
    table.add("foolbox/imagenet_01_559.jpg", "0" * 64, None, None, None, None, None, boxes)
    table.finish()
    store.add(found)
    store.close()
    page = visit.to(f"/records/{found.id}?tab=samples&sample=foolbox%2Fimagenet_01_559.jpg")
    expect(page.get_by_role("dialog").get_by_role("img", name="1 boxes: chair 87 %")).to_be_visible()
    expect(page.get_by_role("button", name="wrong", exact=True)).to_have_count(0)  # nobody counted right and wrong


def test_samples_whose_dataset_is_gone_have_a_quiet_place(visit: Visit, site: Site) -> None:
    folder = site.place / "manifests"
    shutil.copytree(folder / "pictures", folder / "vanishing")
    (folder / "vanishing.yml").write_text((folder / "pictures.yml").read_text().replace("pictures", "vanishing"))
    record = site.evaluated("toy", "vanishing", options={"timed_runs": 1, "warm_up_runs": 1})
    shutil.rmtree(folder / "vanishing")
    page = visit.to(f"/records/{record}?tab=samples")
    expect(page.locator("[title^='there is no copy of vanishing available']").first).to_be_visible()
    page.get_by_role("button", name="class0/0000.png").click()
    expect(page.get_by_role("dialog")).to_contain_text("there is no copy of vanishing available")


def test_a_record_that_is_not_there_is_said_so(visit: Visit) -> None:
    page = visit.to("/records/19990101-000000-000000")
    expect(page.get_by_role("alert")).to_contain_text("there is no record")


@pytest.mark.parametrize("tab", ["overview", "samples", "classes", "environment"])
def test_everybody_can_read_it_in_any_light_and_on_a_phone(visit: Visit, record: str, tab: str) -> None:
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        visit.to(f"/records/{record}?tab={tab}")
        assert not visit.violations(), scheme
    assert visit.sticks_out() == []
