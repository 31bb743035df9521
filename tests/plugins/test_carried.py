"""What a plan uses of other packages goes into its identity, and to the worker that runs it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Record, Settings, evaluate
from mlmodelscope.dataset.open import open_dataset
from mlmodelscope.errors import DatasetError, ManifestError, PlanError, PluginError, WorkerError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest
from mlmodelscope.plan.plugins import with_plugins
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.site import provision
from mlmodelscope.replicate.pitfall.pitfall import step, steps_of, with_steps
from mlmodelscope.worker.plugins import module_paths
from mlmodelscope.worker.variants import VariantWorker

from .packages import install, step_named

Make = Callable[..., Any]
GOOD = step_named("odd")
STEPS = {"decode": None, "odd": None, "resize": {"dimensions": [8, 8]}, "layout": "NCHW"}
WITH_ODD = [{"type": "image", "processing": STEPS}]


@pytest.fixture
def run(make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings) -> Callable[[], Record]:
    """Evaluates a model whose steps have one of a stranger's among them."""
    dataset = make_dataset(make_pictures(count=3))
    return lambda: evaluate(make_model(inputs=WITH_ODD), dataset, settings=settings)


FORMS = {
    "a file": ("odd", {"odd.py": GOOD}, "odd.py"),
    "a package": ("odd.step", {"odd/__init__.py": "", "odd/step.py": GOOD}, "odd"),
    "a package that is the module": ("odd", {"odd/__init__.py": "from odd import step", "odd/step.py": GOOD}, "odd"),
    "a namespace": ("acme.odd.step", {"acme/odd/__init__.py": "", "acme/odd/step.py": GOOD}, "acme/odd"),
    "a file in a namespace": ("acme.odd", {"acme/odd.py": GOOD}, "acme/odd.py"),
}


@pytest.mark.parametrize("module, files, place", FORMS.values(), ids=list(FORMS))
def test_a_package_of_any_form_reaches_the_worker(
    odd: Make, run: Callable[[], Record], module: str, files: dict[str, str], place: str
) -> None:
    folder = odd({"steps": {"odd": module}}, files)
    (folder / "beside.py").write_text("")  # what lies beside it stays where it is
    record = run()
    assert record.samples == 3 and record.failed == 0
    (used,) = record.plan.plugins
    assert (used.kind, used.name, used.package, used.version) == ("steps", "odd", "odd-package", "0.1")
    assert module_paths(record.plan) == {place: folder / place}


def test_an_editable_installation_reaches_the_worker(
    tmp_path: Path, run: Callable[[], Record], on_the_path: Callable[[Path], None]
) -> None:
    source = tmp_path / "source"
    on_the_path(source)  # as the `.pth` file has it
    on_the_path(install(tmp_path / "site", {"steps": {"odd": "odd"}}, {"odd.py": GOOD}, editable=source))
    record = run()
    assert record.failed == 0 and module_paths(record.plan) == {"odd.py": source / "odd.py"}


def test_another_version_or_other_code_is_another_plan(odd: Make, run: Callable[[], Record]) -> None:
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    first = run()
    assert run().id == first.id
    (folder / "odd.py").write_text(GOOD + "\n# a remark\n")
    second = run()
    assert second.plan_digest != first.plan_digest and second.plan.plugins[0].sha256 != first.plan.plugins[0].sha256
    assert with_plugins(first.plan).digest == second.plan_digest


def test_a_plan_is_not_run_with_other_code_than_it_was_made_with(odd: Make, run: Callable[[], Record]) -> None:
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    plan = run().plan
    (folder / "odd.py").write_text(GOOD + "\n# a remark\n")
    with pytest.raises(
        PlanError, match="uses odd-package 0.1, which adds `odd`; what is installed here, 0.1, has other"
    ):
        module_paths(plan)
    other = plan.plugins[0].model_copy(update={"package": "gone-package"})
    with pytest.raises(PlanError, match="uses gone-package 0.1, which adds `odd` and is not installed here") as caught:
        module_paths(plan.model_copy(update={"plugins": (other,)}))
    assert caught.value.hint == "pip install gone-package==0.1"


@pytest.mark.parametrize(
    "source, reason",
    [
        ("def odd(:", r"not valid for this stack's Python 3\.\d+\.\d+: invalid syntax \(odd.py:1\)"),
        ("import nowhere", "No module named 'nowhere'; inside a stack there are the standard library"),
        ("raise SystemExit(3)", "cannot be imported by this stack's Python .*: SystemExit: 3"),
        ("", r"registers no `odd` in this stack"),
    ],
    ids=["syntax", "import", "exit", "nothing"],
)
def test_a_module_that_only_the_stack_refuses_is_named(
    odd: Make, run: Callable[[], Record], source: str, reason: str
) -> None:
    """As a stack's Python does that is older than ours."""
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    run()  # here it is imported, once and for all
    (folder / "odd.py").write_text(source)
    with pytest.raises(WorkerError, match=rf"the plugin odd-package 0.1 \(odd\) .*{reason}"):
        run()


def test_a_variant_whose_step_the_stack_refuses_is_missing_and_the_others_are_tried(
    odd: Make, make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings
) -> None:
    folder = odd({"steps": {"odd": "odd"}}, {"odd.py": GOOD})
    plan = evaluate(make_model(), make_dataset(make_pictures(count=2)), settings=settings).plan
    first, *rest = steps_of(plan)
    variants = [with_steps(plan, [first, step("odd"), *rest]), with_steps(plan, [first, *rest])]
    site = provision(plan, ArtifactStore(settings))
    for source, missing in ((GOOD, {}), ("def odd(:", {"0": "odd.py:1"})):
        (folder / "odd.py").write_text(source)
        named = {str(number): with_plugins(each) for number, each in enumerate(variants)}
        with VariantWorker(site, plan, named) as worker:
            assert worker.missing.keys() == missing.keys()
            assert all(words in worker.missing[variant] for variant, words in missing.items())


def test_plans_without_plugins_are_what_they_were(make_model: Make, make_dataset: Make, make_pictures: Make) -> None:
    from mlmodelscope.plan.make import make_plan
    from mlmodelscope.plan.options import Options
    from mlmodelscope.plan.stack import StackDescription

    class Pins(dict[str, str]):
        def get(self, key: str, default: Any = None) -> str:  # type: ignore[override]
            return "0" * 64

    stack = StackDescription("current", "3.11.7", {"numpy": "2.4.6", "pillow": "13.0.0"})
    plan = make_plan(make_model(), make_dataset(make_pictures(count=1)), Options(), stack, Pins())
    assert plan.plugins == () and with_plugins(plan) is plan
    assert (
        plan.digest == "e80309ad74f7bb508b772d521ea796721dfe2897fb29f431ba7fb717c9b0115a"
    )  # as it was before there were any


def test_a_manifest_says_where_a_broken_step_stands(odd: Make, make_model: Make) -> None:
    odd({"steps": {"odd": "odd"}}, {"odd.py": "1 / 0"})
    with pytest.raises(ManifestError, match=r"odd-package 0.1 cannot be used.*at inputs\[0\].processing.odd"):
        make_model(inputs=WITH_ODD)


def test_a_broken_predictor_is_refused_where_it_is_needed_only(
    odd: Make, make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings
) -> None:
    odd({"predictors": {"oddnet": "odd"}}, {"odd.py": "1 / 0"})
    dataset = make_dataset(make_pictures(count=2))
    assert evaluate(make_model(), dataset, settings=settings).failed == 0
    with pytest.raises(PluginError, match="the predictor `oddnet` of the package odd-package 0.1 cannot be used"):
        evaluate(make_model(framework={"name": "Odd Net"}), dataset, settings=settings)


FORMAT = """
from mlmodelscope.dataset.format import dataset_format
from mlmodelscope.dataset.sample import Unlabelled


@dataset_format("oddset", labeled=False)
def read(source, labels, dataset):
    {body}
"""


@pytest.mark.parametrize(
    "body, problem, reason",
    [
        ("return [1, 2]", PluginError, "TypeError: it lists 1, which is not an Unlabelled sample"),
        ("return [Unlabelled('a', {}, None)]", PluginError, "is not an Unlabelled sample with a file or a digest"),
        ("return None", PluginError, "'NoneType' object is not iterable"),
        ("return {}['x']", PluginError, r"cannot be used: KeyError: 'x' \(odd.py:7\)"),
        ("return open('/nonexistent')", DatasetError, "cannot read /nonexistent"),
    ],
)
def test_a_format_that_does_not_keep_its_word_is_blamed(
    odd: Make, make_dataset: Make, make_pictures: Make, make_model: Make, settings: Settings, body: str, problem: type,
    reason: str,
) -> None:  # fmt: skip
    odd({"datasets": {"oddset": "odd"}}, {"odd.py": FORMAT.format(body=body)})
    with pytest.raises(problem, match=reason):
        evaluate(make_model(), make_dataset(make_pictures(count=2), format="oddset"), settings=settings)


def test_a_format_that_nobody_has_is_refused_with_those_that_are_known(odd: Make, tmp_path: Path) -> None:
    odd({"datasets": {"oddset": "odd"}}, {"odd.py": FORMAT.format(body="return []")})
    manifest = {"name": "x", "version": "1.0.0", "format": "odset", "sources": [{"url": str(tmp_path)}]}
    with pytest.raises(ManifestError, match="`odset` is not one of the known values at format") as caught:
        load_manifest(manifest)
    assert "oddset" in caught.value.problems[0].known and caught.value.problems[0].hint == "did you mean `oddset`?"


def test_a_planned_format_that_is_gone_is_refused(
    make_model: Make, make_dataset: Make, make_pictures: Make, settings: Settings
) -> None:
    record = evaluate(make_model(), make_dataset(make_pictures(count=2)), settings=settings)
    gone = record.plan.dataset.model_copy(update={"format": "gone"})
    with pytest.raises(DatasetError, match="has the format `gone`, which is not known here"):
        open_dataset(gone, ArtifactStore(settings))


def test_editors_learn_of_what_is_installed(odd: Make) -> None:
    from mlmodelscope.manifest.json_schema import manifest_schema

    files = {"odd.py": FORMAT.format(body="return []"), "odd_step.py": GOOD}
    odd({"datasets": {"oddset": "odd"}, "steps": {"odd": "odd_step"}}, files)
    assert "oddset" in manifest_schema("dataset")["properties"]["format"]["enum"]
    assert '"odd"' in json.dumps(manifest_schema("model"))


def test_a_model_manifest_may_name_a_stranger_s_framework(make_model: Make) -> None:
    assert isinstance(make_model(framework={"name": "Odd Net"}), ModelManifest)
