"""Manifests that carry Python, from the file to the record: what they get, what is kept, and what they cannot break."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mlmodelscope import Options, Record, Settings, Store, evaluate, load_manifest, predict
from mlmodelscope.errors import DatasetError, PlanError, TrustError, WorkerError
from mlmodelscope.manifest.aspects import Aspects
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.manifest.trust import code_digest
from mlmodelscope.preparation import plan_aspects
from mlmodelscope.provision.artifact import ArtifactStore
from mlmodelscope.provision.trust import Trusted
from mlmodelscope.watcher import Watcher
from processes import children_of, commands

Make = Callable[..., ModelManifest]
MakeDataset = Callable[..., DatasetManifest]
MakePictures = Callable[..., Path]


@pytest.fixture
def model(tmp_path: Path) -> Make:
    """A model that is code: bodies of functions, which see `ctx` and `data`, in a manifest file."""

    def make(
        preprocess: str | None = None,
        run: str | None = None,
        postprocess: str | None = None,
        name: str = "toy.yml",
        **keys: Any,
    ) -> ModelManifest:
        bodies = {"preprocess": preprocess, "run": run, "postprocess": postprocess}
        text = json.dumps(
            {"name": "toy", "version": "1.0.0", "task": "classification", "outputs": [{"type": "logits"}], **keys}
        )
        lines = [f"{key}: {json.dumps(value)}" for key, value in json.loads(text).items()]
        for stage, body in bodies.items():
            if body is not None:
                inside = "".join(f"        {line}\n" for line in body.splitlines())
                gets = keys.get("gets") if stage == "preprocess" else None
                lines = [line for line in lines if not line.startswith("gets:")]
                lines += [f"{stage}:", *([f"  gets: {gets}"] if gets else []), "  code: |"]
                lines += ["    import numpy as np", f"    def {stage}(ctx, data):", inside]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")
        manifest = load_manifest(tmp_path / name)
        assert isinstance(manifest, ModelManifest)
        return manifest

    return make


@pytest.fixture
def texts(tmp_path: Path, make_dataset: MakeDataset) -> Callable[..., DatasetManifest]:
    """Files that hold a number each."""

    def make(count: int = 6, **changes: Any) -> DatasetManifest:
        folder = tmp_path / "texts"
        folder.mkdir(exist_ok=True)
        for index in range(count):
            (folder / f"{index:02d}.txt").write_text(str(index))
        return make_dataset(folder, **{"format": "files", "task": "general", **changes})

    return make


def rows(settings: Settings, record: Record) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Store(settings).samples(record).to_pylist()
    return found


def answers(settings: Settings, record: Record) -> list[Any]:
    assert not record.failed, record.failures
    return [json.loads(row["answer"]) if row["answer"] else row["classes"][0] for row in rows(settings, record)]


NUMBERS = "return [int(open(p).read()) for p in data['data']]"
SAME = "return data"


# What they get and what is kept.


@pytest.mark.parametrize("batch_size", [1, 4, 6])
def test_functions_get_the_paths_of_a_batch(
    settings: Settings, model: Make, texts: MakeDataset, batch_size: int
) -> None:
    record = evaluate(
        model(NUMBERS, "return [n + 1 for n in data]", SAME),
        texts(),
        Options(batch_size=batch_size),
        settings=settings,
        trust=True,
    )
    assert answers(settings, record) == [1, 2, 3, 4, 5, 6] and record.latency is not None
    assert record.plan.predictor.name is None and "top1" in record.refused


def test_sources_keep_their_names(settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path) -> None:
    texts()
    places = [{"name": name, "url": str(tmp_path / "texts" / f"0{name[-1]}.txt")} for name in ("part1", "part2")]
    both = texts(sources=places)
    record = evaluate(
        model(SAME, SAME, "return [sorted(data)] * 2", task="general"),
        both,
        Options(batch_size=2),
        settings=settings,
        trust=True,
    )
    assert answers(settings, record) == [["part1", "part2"]] * 2


@pytest.mark.parametrize("path", ["data", "dataset[data]"])
def test_a_function_for_one_sample_may_know_it_by_path_or_number(
    settings: Settings, model: Make, texts: MakeDataset, path: str
) -> None:
    one = model(f"return np.int64(open({path}).read())", "return data[0]", "return list(data)", gets="sample")
    assert answers(settings, evaluate(one, texts(), Options(batch_size=4), settings=settings, trust=True)) == list(
        range(6)
    )


def test_pictures_are_prepared_by_code_as_by_steps(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures, model: Make
) -> None:
    steps, dataset = make_model(), make_dataset(make_pictures())
    assert steps.source is not None
    body = """from PIL import Image
image = Image.open(dataset[data]).convert("RGB").resize((8, 8), Image.BILINEAR)
return ((np.asarray(image, np.float32) - 127.5) / 127.5).transpose(2, 0, 1)"""
    source = {"graph_path": steps.source.graph_path}
    own = model(
        body,
        gets="sample",
        framework={"name": "fake"},
        inputs=[{"type": "image"}],
        source=source,
        outputs=[{"type": "logits", "processing": ["softmax"]}],
    )
    coded = evaluate(own, dataset, Options(batch_size=5), settings=settings, trust=True)
    plain = make_model(outputs=[{"type": "logits", "processing": ["softmax"]}], source=source)
    assert coded.failed == 0 and coded.metrics.get("top1") is not None and coded.details.get("calibration") is not None
    assert len(rows(settings, coded)[0]["classes"]) == 5
    planned = evaluate(plain, dataset, settings=settings)
    assert {row["id"] for row in rows(settings, planned)} == {row["id"] for row in rows(settings, coded)}


def test_steps_before_and_a_function_after(
    settings: Settings, make_model: Make, make_dataset: MakeDataset, make_pictures: MakePictures
) -> None:
    after = "def postprocess(ctx, data):\n    return [row.argmax() for row in data[0]]"
    dataset = make_dataset(make_pictures())
    coded = evaluate(make_model(postprocess=after), dataset, settings=settings, trust=True)
    plain = evaluate(make_model(), dataset, settings=settings)
    assert answers(settings, coded) == answers(settings, plain)
    assert coded.metrics["top1"] == plain.metrics["top1"]


V2 = """name: v2toy
version: 1.0.0
description: as the original system's second form has it
framework: {name: fake, version: 1.0.0}
modality: image_classification
model: {graph_path: toy.json}
inputs: [{type: image, element_type: float32}]
outputs: [{type: feature, element_type: float32}]
before_preprocess: |
  import numpy as np
  side = 8
preprocess: |
  def preprocess(ctx, data):
    with open(dataset[data], "rb") as file:
      return np.full((3, side, side), sum(file.read()) % 7, np.float32)
postprocess: |
  import json
  def postprocess(ctx, data):
    return [json.dumps([{"index": int(row[0] * 1000) % 10, "probability": 1.0}]) for row in data[0]]
"""
DLSPEC = """id: dlspec-toy
version: 1.0.0
task: image classification
framework: {name: fake}
model: {graph_path: toy.json}
inputs: [{type: image}]
outputs: [{type: probability}]
pre-process: |
  import numpy as np
  def fun(ctx, data):
      sizes = [sum(open(path, "rb").read()) % 7 for path in data["data"]]
      return [np.stack([np.full((3, 8, 8), size, np.float32) for size in sizes])]
post-process: |
  def fun(ctx, data):
      for row in data[0]:
          yield {"classes": [int(row[0] * 1000) % 10]}
"""


@pytest.mark.parametrize("batch_size", [1, 5])
def test_the_published_forms_give_the_same_answers(
    settings: Settings, make_dataset: MakeDataset, make_pictures: MakePictures, tmp_path: Path, batch_size: int
) -> None:
    dataset = make_dataset(make_pictures())
    (tmp_path / "toy.json").write_text(json.dumps({"shape": [None, 3, 8, 8], "classes": 10}))
    found = []
    for name, text in (("v2.yml", V2), ("dlspec.yml", DLSPEC)):
        (tmp_path / name).write_text(text)
        record = evaluate(tmp_path / name, dataset, Options(batch_size=batch_size), settings=settings, trust=True)
        assert record.metrics.get("top1") is not None
        found.append(answers(settings, record))
    assert found[0] == found[1] and len(set(found[0])) > 1


def test_a_software_manifest_that_loads_code_needs_trust(settings: Settings, model: Make, texts: MakeDataset) -> None:
    stack = load_manifest({"kind": "software", "name": "s", "version": "1.0.0", "env": {"LD_PRELOAD": "x", "A": "1"}})
    coded = model(NUMBERS, SAME, SAME)
    Trusted(settings).add(code_digest(coded) or "", "toy")
    with pytest.raises(TrustError, match="s@1.0.0 carries environment code that is not trusted: env"):
        evaluate(coded, texts(), software=stack, settings=settings)


def test_a_dataset_may_be_code(settings: Settings, model: Make) -> None:
    dataset = load_manifest(
        {
            "name": "numbers",
            "version": "1.0.0",
            "format": "functions",
            "init": "def init(count):\n    global dataset\n    dataset = {}\n    return 5",
            "load": "def load(sample_list):\n    dataset.update({n: n * n for n in sample_list})",
            "unload": "def unload(sample_list):\n    [dataset.pop(n) for n in sample_list]",
        }
    )
    squares = model(
        "return dataset[data]",
        "return data[0], len(dataset)",
        "return [[int(n), data[1]] for n in data[0]]",
        gets="sample",
        task="general",
    )
    record = evaluate(squares, dataset, Options(batch_size=2), settings=settings, trust=True)
    assert answers(settings, record) == [[0, 2], [1, 2], [4, 2], [9, 2], [16, 1]]
    few = evaluate(squares, dataset, Options(limit=3), settings=settings, trust=True)
    assert few.samples == 3


@pytest.mark.parametrize("init", ["return 0", "return None", "raise OSError('no disk')"])
def test_a_dataset_that_cannot_be_counted_leaves_no_record(settings: Settings, model: Make, init: str) -> None:
    dataset = load_manifest(
        {"name": "n", "version": "1.0.0", "format": "functions", "init": f"def init(count):\n    {init}"}
    )
    with pytest.raises(
        (DatasetError, WorkerError), match="its `init` returned 0|must return the number|OSError: no disk"
    ):
        evaluate(model(SAME, SAME, SAME), dataset, settings=settings, trust=True)
    assert Store(settings).list() == []


def test_streams_at_every_stage_give_the_same_answers(settings: Settings, model: Make, texts: MakeDataset) -> None:
    whole = model(NUMBERS, "return [n * 2 for n in data]", SAME)
    streamed = model(
        "for p in data['data']:\n    yield int(open(p).read())",
        "for n in data:\n    yield n * 2",
        "for n in data:\n    yield n",
        name="s.yml",
    )
    found = [
        evaluate(each, texts(), Options(batch_size=4), settings=settings, trust=True) for each in (whole, streamed)
    ]
    assert found[0].id != found[1].id and answers(settings, found[0]) == answers(settings, found[1])


def test_answers_of_every_form_agree(settings: Settings, model: Make, texts: MakeDataset) -> None:
    forms = """forms = [2, np.int64(2), [0.1, 0.2, 0.7], {"classes": [2, 0], "scores": [0.7, 0.3]},
         [{"index": 0, "probability": 0.3}, {"index": 2, "probability": 0.7}], '{"index": 2}']
return [forms[n] for n in data]"""
    record = evaluate(model(NUMBERS, SAME, forms), texts(), settings=settings, trust=True)
    assert answers(settings, record) == [2] * 6


def test_other_answers_are_kept_as_json_and_shown(
    settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path
) -> None:
    detector = model(
        NUMBERS,
        SAME,
        "return [{'boxes': [[n, 0.5]], 'wörter': 'é'} if n else [] for n in data]",
        task="object_detection",
    )
    record = evaluate(detector, texts(task="object_detection"), settings=settings, trust=True)
    kept = [row["answer"] for row in rows(settings, record)]
    assert kept[:2] == ["[]", '{"boxes":[[1,0.5]],"wörter":"é"}']
    (shown,) = predict(detector, [tmp_path / "texts" / "01.txt"], settings=settings, trust=True)
    assert shown.answer == kept[1] and shown.error is None and shown.classes == ()


def test_nan_is_a_failed_sample_and_what_is_kept_is_json(settings: Settings, model: Make, texts: MakeDataset) -> None:
    odd = model(NUMBERS, SAME, "return [{'a': float('nan') if n == 2 else n} for n in data]", task="general")
    record = evaluate(odd, texts(), Options(batch_size=3), settings=settings, trust=True)
    assert [failure.sample for failure in record.failures] == ["02.txt"]
    assert [json.loads(row["answer"], parse_constant=pytest.fail) for row in rows(settings, record) if row["answer"]]


def test_a_large_answer_is_an_answer(settings: Settings, model: Make, texts: MakeDataset) -> None:
    mask = model(SAME, SAME, "return np.zeros((len(data['data']), 600, 600), int)", task="semantic_segmentation")
    record = evaluate(
        mask, texts(8, task="semantic_segmentation"), Options(batch_size=4), settings=settings, trust=True
    )
    assert record.failed == 0 and {len(row["answer"]) for row in rows(settings, record)} == {721201}


def test_names_that_are_not_ascii_do_no_harm(
    settings: Settings, model: Make, make_dataset: MakeDataset, tmp_path: Path
) -> None:
    folder = tmp_path / "größe"
    folder.mkdir()
    (folder / "日本 é.txt").write_text("1")
    named = model("# ünïcödé\n" + SAME, SAME, "assert 'é' not in data['data'][0], 'é'", name="modèle.yml")
    record = evaluate(named, make_dataset(folder, format="files"), settings=settings, trust=True)
    assert record.failures[0].sample == "日本 é.txt"
    assert record.failures[0].reason.startswith("AssertionError: é (modèle.yml:")


# Lines.


def test_an_error_leads_to_its_line_in_the_manifest(
    settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path
) -> None:
    wrong = model(NUMBERS, "x = 1\nraise ValueError('no pixels')", SAME)
    lines = (tmp_path / "toy.yml").read_text().splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "no pixels" in text)
    record = evaluate(wrong, texts(1), settings=settings, trust=True)
    assert record.failures[0].reason == f"ValueError: no pixels (toy.yml:{line}, in run)"


def test_a_manifest_without_a_file_counts_the_lines_of_its_code(settings: Settings, texts: MakeDataset) -> None:
    code = "def run(ctx, data):\n    raise ValueError('no pixels')"
    manifest = load_manifest(
        {"name": "m", "version": "1.0.0", "task": "classification", "run": code, "outputs": [{"type": "logits"}]}
    )
    record = evaluate(manifest, texts(1), settings=settings, trust=True)
    assert record.failures[0].reason == "ValueError: no pixels (line 2 of run, in run)"


# Accidents.


def test_an_error_fails_its_batch_and_no_other(settings: Settings, model: Make, texts: MakeDataset) -> None:
    record = evaluate(
        model(NUMBERS, "1 / (2 not in data)\nreturn data", SAME),
        texts(),
        Options(batch_size=2),
        settings=settings,
        trust=True,
    )
    assert [failure.sample for failure in record.failures] == ["02.txt", "03.txt"]
    assert "ZeroDivisionError" in record.failures[0].reason


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise SystemExit(1)", "SystemExit: 1"),
        ("import os; os._exit(3)", "the worker ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "the worker was killed by SIGKILL"),
        ("f = lambda: f(); f()", "RecursionError"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("return []", "returned 0 answers for 1 samples"),
    ],
)
def test_a_sample_that_ends_its_worker_costs_no_other(
    settings: Settings, model: Make, texts: MakeDataset, body: str, reason: str
) -> None:
    record = evaluate(
        model(NUMBERS, SAME, f"if 4 in data:\n    {body}\nreturn data"), texts(), settings=settings, trust=True
    )
    assert [failure.sample for failure in record.failures] == ["04.txt"] and reason in record.failures[0].reason


def test_code_that_cannot_even_be_loaded_leaves_no_record(settings: Settings, model: Make, texts: MakeDataset) -> None:
    with pytest.raises(
        WorkerError, match=r"ModuleNotFoundError: No module named 'nothing_like_it' \(line 1 of setup of toy.yml"
    ):
        evaluate(model(NUMBERS, SAME, SAME, setup="import nothing_like_it"), texts(), settings=settings, trust=True)
    assert Store(settings).list() == []


class KillsOnce(Watcher):
    """Kills the worker in the middle, as the kernel would."""

    def __init__(self) -> None:
        self.killed: list[int] = []

    def answered(self, done: int, total: int, failed: int) -> None:
        if done == 10 and not self.killed:
            children = children_of(os.getpid())
            self.killed = [process for process, command in children.items() if "mlmodelscope_worker" in command]
            for pid in self.killed:
                os.kill(pid, signal.SIGKILL)


def test_a_worker_killed_in_the_middle_changes_no_answer(settings: Settings, model: Make, texts: MakeDataset) -> None:
    counting, dataset = model(NUMBERS, "return [n * 3 for n in data]", SAME), texts(90)
    whole = evaluate(counting, dataset, Options(batch_size=2), settings=settings, trust=True)
    watcher = KillsOnce()
    again = evaluate(
        counting, dataset, Options(batch_size=2), settings=settings, trust=True, watcher=watcher, again=True
    )
    assert watcher.killed and rows(settings, again) == rows(settings, whole)


ENDLESS = """
import signal
import sys
from pathlib import Path
from mlmodelscope import Settings, evaluate
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it
place = Path(sys.argv[1])
evaluate(place / "toy.yml", place / "data.yml", settings=Settings(place / "home", place / "cache"), trust=True)
"""


def test_ctrl_c_ends_a_function_that_never_ends(model: Make, texts: MakeDataset, tmp_path: Path) -> None:
    model(
        "open(ctx['hyperparameters']['mark'], 'w').close()\nwhile True: pass",
        SAME,
        SAME,
        hyperparameters={"mark": str(tmp_path / "mark")},
    )
    (tmp_path / "data.yml").write_text(texts(1).model_dump_json(exclude_none=True, exclude_defaults=True))
    process = subprocess.Popen([sys.executable, "-c", ENDLESS, str(tmp_path)], stderr=subprocess.PIPE)
    while not (tmp_path / "mark").exists():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in process.communicate(timeout=300)[1]
    assert not [each for each in commands() if f"mlmodelscope-worker-{process.pid}-" in each]


# Trust.


def test_code_runs_when_it_is_trusted_and_not_when_a_letter_changed(
    settings: Settings, model: Make, texts: MakeDataset
) -> None:
    first = model(NUMBERS, SAME, SAME)
    with pytest.raises(
        TrustError, match=r"toy@1.0.0 carries Python code that is not trusted: preprocess \(toy.yml:\d+\)"
    ):
        evaluate(first, texts(), settings=settings)
    assert Store(settings).list() == []
    Trusted(settings).add(code_digest(first) or "", "toy")
    assert evaluate(first, texts(), settings=settings).failed == 0
    assert evaluate(model(NUMBERS, SAME, SAME, description="better words"), texts(), settings=settings).failed == 0
    with pytest.raises(TrustError):
        evaluate(model(NUMBERS, SAME, SAME + " "), texts(), settings=settings)


def test_a_record_of_trusted_code_is_shown_only_to_who_trusts_it(
    settings: Settings, model: Make, texts: MakeDataset
) -> None:
    evaluate(model(NUMBERS, SAME, SAME), texts(), settings=settings, trust=True)
    with pytest.raises(TrustError):
        evaluate(model(NUMBERS, SAME, SAME), texts(), settings=settings)
    with pytest.raises(TrustError):
        predict(model(NUMBERS, SAME, SAME), ["x.png"], settings=settings)


def test_setup_commands_need_trust_and_leave_what_they_printed(
    settings: Settings, model: Make, texts: MakeDataset
) -> None:
    machine = load_manifest({"kind": "hardware", "name": "h", "version": "1.0.0", "cpu": {}, "setup": "echo prepared"})
    coded = model(NUMBERS, SAME, SAME)
    Trusted(settings).add(code_digest(coded) or "", "toy")
    with pytest.raises(TrustError, match="h@1.0.0 carries shell code that is not trusted: setup"):
        evaluate(coded, texts(), hardware=machine, settings=settings)
    record = evaluate(coded, texts(), hardware=machine, settings=settings, trust=True)
    assert record.setup_output == "prepared"
    assert record.plan_digest != evaluate(coded, texts(), settings=settings).plan_digest


def test_a_machine_that_does_not_fit_is_refused_before_anything_runs(
    settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path
) -> None:
    huge = load_manifest(
        {"kind": "hardware", "name": "h", "version": "1.0.0", "memory": "900tb", "setup": f"touch {tmp_path}/ran"}
    )
    with pytest.raises(PlanError, match="memory: at least 900tb is asked for"):
        evaluate(model(NUMBERS, SAME, SAME), texts(), hardware=huge, settings=settings, trust=True)
    assert not (tmp_path / "ran").exists()


# The plan.


def digest(settings: Settings, model: ModelManifest, dataset: DatasetManifest) -> str:
    return plan_aspects(Aspects(model, dataset), Options(), ArtifactStore(settings), settings, trust=True).digest


def test_the_plan_sees_code_and_neither_lines_nor_paths(
    settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text("a\nb\n")
    outputs = [{"type": "logits", "features_url": "names.txt"}]
    plain = digest(settings, model(NUMBERS, SAME, SAME, outputs=outputs), texts())
    text = (tmp_path / "toy.yml").read_text()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "names.txt").write_text("a\nb\n")
    (tmp_path / "elsewhere" / "moved.yml").write_text("# a comment\n\n" + text)
    moved = load_manifest(tmp_path / "elsewhere" / "moved.yml")
    assert isinstance(moved, ModelManifest) and digest(settings, moved, texts()) == plain
    assert digest(settings, model(NUMBERS, SAME, SAME + "  # same", outputs=outputs), texts()) != plain
    assert digest(settings, model(NUMBERS, SAME, SAME, outputs=outputs, hyperparameters={"a": 1}), texts()) != plain


def test_steps_cannot_prepare_what_only_functions_know(settings: Settings, make_model: Make) -> None:
    dataset = load_manifest(
        {"name": "n", "version": "1.0.0", "format": "functions", "init": "def init(count): return 3"}
    )
    with pytest.raises(PlanError, match="only the functions of n know its samples"):
        evaluate(make_model(), dataset, settings=settings, trust=True)


def test_class_names_are_the_functions_to_use(
    settings: Settings, model: Make, texts: MakeDataset, tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text("zero\none\ntwo\nthree\nfour\nfive\n")
    named = model(
        NUMBERS,
        SAME,
        "return [ctx['features'][n] for n in data]",
        outputs=[{"type": "logits", "features_url": "names.txt"}],
    )
    record = evaluate(named, texts(), settings=settings, trust=True)
    assert answers(settings, record) == [0, 1, 2, 3, 4, 5] and record.class_names[2] == "two"
