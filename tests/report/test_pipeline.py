"""The pipeline is shown in order, and what an author chose is visible."""

from collections.abc import Callable

from mlmodelscope import Options, Record
from mlmodelscope.manifest.schema import Step
from mlmodelscope.report.pipeline import pipeline_blocks
from mlmodelscope.report.reproduction import command, files, machine, unusual_timing

Make = Callable[..., Record]


def test_blocks_come_in_the_order_of_the_plan(make_record: Make) -> None:
    blocks = pipeline_blocks(make_record().plan)
    names = [block.name for block in blocks]
    assert names == ["decode", "resize", "mean", "rescale", "layout", "cast", "toy", "softmax", "answers"]


def test_only_what_differs_from_its_default_is_shown(make_record: Make) -> None:
    decode, resize, mean, *_ = pipeline_blocks(make_record().plan)
    assert [each.name for each in decode.shown] == ["library"]  # always named
    assert {each.name: each.value for each in resize.shown} == {"dimensions": "[8, 8]", "library": "pillow"}
    assert "antialias" in [each.name for each in resize.parameters]  # settled by the library: no choice of the author
    assert [(each.name, each.value) for each in mean.shown] == [("values", "127.5")]


def test_a_step_that_is_no_longer_known_shows_everything(make_record: Make) -> None:
    plan = make_record().plan
    strange = Step(name="from_a_plugin", parameters={"strength": 0.5})
    assert pipeline_blocks(plan.with_steps((strange,)))[0].shown[0].value == "0.5"


def test_the_command_says_what_was_chosen_and_nothing_else(make_record: Make) -> None:
    assert command(make_record().plan) == "mlmodelscope evaluate toy@1.0.0 pictures@1.0.0 --again"
    options = Options(batch_size=8, threads=2, limit=50, stratified=True, seed=3, top_k=1)
    assert command(make_record(options=options).plan) == (
        "mlmodelscope evaluate toy@1.0.0 pictures@1.0.0 --batch-size 8 --threads 2 --limit 50 --seed 3 --top-k 1 "
        "--stratified --again"
    )


def test_timing_that_the_command_cannot_say_is_said_in_python(make_record: Make) -> None:
    assert unusual_timing(make_record().plan) is None
    assert unusual_timing(make_record(options=Options(timed_runs=7)).plan) == "Options(timed_runs=7)"


def test_every_file_is_listed_with_its_digest(make_record: Make) -> None:
    assert [(each.role, each.sha256[0]) for each in files(make_record().plan)] == [("model", "1"), ("samples", "2")]


def test_the_machine_is_described_without_its_name(make_record: Make) -> None:
    described = dict(machine(make_record()))
    assert described["memory"] == "8.00\N{NO-BREAK SPACE}GiB" and described["turbo"] == "no"
    assert "secret-host" not in described.values() and "container" not in described
