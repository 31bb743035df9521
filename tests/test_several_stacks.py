"""One model in several stacks, also of other frameworks: all names are decided before anything is built."""

import json
from pathlib import Path

import pytest
from PIL import Image

from cli.command import Run, command_in
from mlmodelscope import Settings
from mlmodelscope.errors import MLModelScopeError, PlanError, StackError, UsageError
from mlmodelscope.manifest.catalog import find_manifest
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import ModelManifest, SoftwareManifest
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.readers import model_read_by, readers_of
from mlmodelscope.preparation import ask
from mlmodelscope.provision.stack.store import StackStore
from mlmodelscope.several_stacks import check_each, names_in, run_each
from worker_package.predictor import onnx_models

MODEL = """
name: net
version: 1.0.0
task: classification
framework: {{name: {framework}, version: "{version}"}}
inputs: [{{type: image, layer_name: input, shape: [3, 8, 8], processing: [decode, {{resize: {{dimensions: [8, 8]}}}},
  {{cast: {{element_type: float32, mode: scale}}}}, {{layout: {{data_layout: NCHW}}}}]}}]
outputs: [{{type: logits}}]
source: {{graph_path: {graph}}}
{more}
"""
STACK = """
name: {name}
version: 1.0.0
framework: {{name: {framework}, version: "*"}}
stack: {{python: "*", requirements: [{requirements}]}}
"""


def model_of(framework: str, graph: str, version: str = "*", more: str = "") -> str:
    return MODEL.format(framework=framework, graph=graph, version=version, more=more)


def parsed(tmp_path: Path, text: str) -> ModelManifest:
    (tmp_path / "net.yml").write_text(text)
    found = load_manifest(tmp_path / "net.yml")
    assert isinstance(found, ModelManifest)
    return found


def stack_of(name: str) -> SoftwareManifest:
    return find_manifest(SoftwareManifest, name)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A folder with an ONNX model, six pictures, and a stack of OpenCV that the running Python satisfies."""
    pytest.importorskip("onnxruntime")
    cv2 = pytest.importorskip("cv2")
    onnx_models.classifier(tmp_path)
    (tmp_path / "net.yml").write_text(model_of("onnxruntime", "model.onnx"))
    for number in range(6):
        (tmp_path / "pictures" / f"class{number}").mkdir(parents=True)
        Image.new("RGB", (8, 8), (40 * number, 180, 240)).save(tmp_path / "pictures" / f"class{number}" / "one.png")
    head = "name: pictures\nversion: 1.0.0\ntask: classification\nformat: folder\n"
    (tmp_path / "data.yml").write_text(f"{head}sources: [{{url: pictures}}]\n")
    (tmp_path / "cv.yml").write_text(STACK.format(name="cv", framework="opencv", requirements=""))
    assert cv2.__version__

    def never(*arguments: object) -> None:
        raise AssertionError("a stack would be built")

    monkeypatch.setattr(StackStore, "_build", never)
    return command_in(tmp_path)


@pytest.mark.parametrize("verb", ["evaluate", "profile", "bench"])
def test_nothing_is_built_or_run_where_one_name_is_refused(run: Run, tmp_path: Path, verb: str) -> None:
    done = run(verb, "net.yml", "data.yml", "--stacks", "current,pytorch-2.4,opencv-4,nowhere")
    assert done.returncode == 2, done.stderr
    assert "2 stacks of 4 cannot run this, and nothing was built" in done.stderr
    assert (
        "pytorch-2.4: net is for onnxruntime, pytorch-2.4 brings pytorch, which does not read .onnx files"
        in done.stderr
    )
    assert "nowhere: there is no software `nowhere`" in done.stderr
    assert "without them: --stacks current,opencv-4" in done.stderr
    assert not (tmp_path / "cache" / "stacks").exists() and not list((tmp_path / "home").glob("**/record.json"))


def test_another_framework_reads_the_file_and_the_answers_are_compared(run: Run) -> None:
    done = run("evaluate", "net.yml", "data.yml", "--stacks", "current,cv.yml,current", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [row["stack"] for row in told["stacks"]] == ["current", "cv.yml"] and told["failed"] == []
    first, other = told["stacks"]
    assert "onnxruntime" in first["packages"] and "opencv-python-headless" in other["packages"]
    assert other["distance"]["judgment"] in ("same bits", "rounding") and other["same_classes"] == 6


def test_a_record_says_that_another_framework_ran_the_model(run: Run) -> None:
    done = run("evaluate", "net.yml", "data.yml", "--stack", "cv.yml", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["plan"]["predictor"]["name"] == "opencv"
    note = "net is written for onnxruntime; opencv runs it in cv because it reads .onnx files"
    assert note in record["notes"]


def test_a_record_says_that_the_image_of_a_model_was_not_used(run: Run, tmp_path: Path) -> None:
    more = "container: {any: {cpu: 'somebody/image:1'}}"
    (tmp_path / "boxed.yml").write_text(model_of("onnxruntime", "model.onnx", more=more))
    done = run("profile", "boxed.yml", "data.yml", "--level", "model", "--runs", "1", "--json")
    assert done.returncode == 0, done.stderr
    note = "net@1.0.0 names the container image somebody/image:1; this Python satisfies it and was used instead"
    assert note in json.loads(done.stdout)["notes"]


@pytest.mark.usefixtures("small_peak")
def test_profiles_of_several_stacks_name_the_kinds_of_layers_alike(run: Run) -> None:
    done = run("profile", "net.yml", "data.yml", "--runs", "2", "--stacks", "current,cv.yml", "--json")
    assert done.returncode == 0, done.stderr
    first, other = json.loads(done.stdout)["stacks"]
    kinds = [{row["kind"] for row in each["types"]} for each in (first, other)]
    assert "convolution" in kinds[0] & kinds[1] and not {"Conv", "Convolution"} & (kinds[0] | kinds[1])
    assert any("written for onnxruntime" in note for note in other["notes"])


def test_benches_of_several_stacks_are_one_table(run: Run) -> None:
    common = ("net.yml", "--random", "--budget", "0.2", "--processes", "1", "--stacks", "current,cv.yml")
    done = run("bench", *common)
    assert done.returncode == 0, done.stderr
    head, *rows = done.stdout.splitlines()
    assert head.split() == ["current", "cv.yml"]
    assert any(row.startswith("times as fast as the first  1.00") for row in rows)
    assert {"scenario", "throughput", "stability", "record"} <= {row.split()[0] for row in rows if row.strip()}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--stack", "current"], "--stacks goes with neither --stack"),
        (["--stacks", " , "], "--stacks names no stack"),
    ],
)
def test_what_does_not_go_together_is_refused(run: Run, options: list[str], said: str) -> None:
    given = options if "--stacks" in options else [*options, "--stacks", "current"]
    for verb in ("evaluate", "profile", "bench"):
        done = run(verb, "net.yml", "data.yml", *given)
        assert done.returncode == 2 and said in done.stderr


def test_a_mistake_that_is_not_about_stacks_is_said_once(run: Run) -> None:
    done = run("evaluate", "net.yml", "data.yml", "--stacks", "current,cv.yml", "--option", "colour=red")
    assert done.returncode == 2 and done.stderr.count("colour") >= 1
    done = run("evaluate", "net.yml", "no-data", "--stacks", "current,cv.yml")
    assert done.returncode == 2 and done.stderr.count("there is no dataset") == 1


def test_an_option_that_one_framework_lacks_is_refused_before_anything_runs(run: Run, tmp_path: Path) -> None:
    given = ("--stacks", "current,cv.yml", "--option", "graph_optimization=basic")
    done = run("evaluate", "net.yml", "data.yml", *given)
    assert done.returncode == 2 and "cv.yml: option `graph_optimization` of opencv" in done.stderr
    assert not (tmp_path / "home" / "records").exists() or not list((tmp_path / "home" / "records").iterdir())


def test_a_release_that_the_model_does_not_allow_is_refused_before_it_is_built(tmp_path: Path) -> None:
    model = parsed(tmp_path, model_of("onnxruntime", "model.onnx", version=">=1.20 <1.21"))
    with pytest.raises(PlanError, match=r"needs onnxruntime .*has onnxruntime 1\.17") as caught:
        ask(model, "imagenet-70", software="onnxruntime-1.17").plan()
    assert "--relax-framework" in str(caught.value.hint)


def test_a_conversion_that_the_manifest_records_runs_in_its_framework(tmp_path: Path) -> None:
    more = "conversions:\n  ncnn: {graph_path: net.param, weights_path: net.bin, layer_names: {input: in0}}\n"
    model = parsed(tmp_path, model_of("onnxruntime", "model.onnx", more=more))
    other, note = model_read_by(model, stack_of("ncnn"))
    assert other.framework is not None and other.framework.name == "ncnn"
    assert other.source is not None and other.source.graph_path == str(tmp_path / "net.param")
    assert other.source.weights_path == str(tmp_path / "net.bin") and other.inputs[0].layer_name == "in0"
    assert note is not None and "records a conversion" in note
    assert other.digest == model.digest, "the manifest is the same"


@pytest.mark.parametrize(
    ("framework", "graph", "others"),
    [
        ("onnxruntime", "a.onnx", {"openvino", "opencv", "tensorrt"}),
        ("OpenCV", "a.ONNX", {"openvino", "onnxruntime", "tensorrt"}),
        ("tflite", "a.tflite", {"openvino", "opencv"}),
        ("tensorflow", "a.pb", {"openvino", "opencv"}),
        ("caffe2", "a.pb", set()),
        ("caffe", "a.prototxt", {"opencv"}),
        ("pytorch", "a.pt", set()),
        ("ncnn", "a.param", set()),
    ],
)
def test_a_file_is_read_by_those_that_know_its_format(
    tmp_path: Path, framework: str, graph: str, others: set[str]
) -> None:
    readers = readers_of(parsed(tmp_path, model_of(framework, graph)))
    own = next(iter(readers))
    assert set(readers) - {own} == others


def test_a_model_that_a_library_builds_runs_where_that_library_is(tmp_path: Path) -> None:
    source = "{builder: timm, architecture: resnet18, weights_path: net.pth}"
    text = model_of("pytorch", "x").replace("{graph_path: x}", source)
    model = parsed(tmp_path, text)
    with pytest.raises(PlanError, match="does not build models of timm"):
        model_read_by(model, stack_of("onnxruntime-1.17"))
    with pytest.raises(PlanError, match="lacks timm"):
        ask(model, "imagenet-70", software="pytorch-2.13").plan()


def test_a_catalogued_model_may_run_on_power(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mlmodelscope.provision.stack.architecture.shutil.which", lambda name: f"/usr/bin/{name}")
    check_each(["opencv-4.6-ppc64le"], "efficientnet-lite0", "imagenet-70", Options(threads=1))
    monkeypatch.setattr("mlmodelscope.provision.stack.architecture.shutil.which", lambda name: None)
    with pytest.raises(StackError, match="there is no qemu-ppc64le-static") as caught:
        check_each(["opencv-4.6-ppc64le"], "efficientnet-lite0", "imagenet-70", Options(threads=1))
    assert caught.value.hint == "apt-get install qemu-user-static"


def test_a_stack_that_fails_unforeseen_does_not_keep_the_others_from_running() -> None:
    def one(name: str) -> int:
        if name == "b":
            raise StackError("the disk is full")
        return len(name)

    done = run_each(["a", "b", "ccc"], one)
    assert done.finished == {"a": 1, "ccc": 3} and list(done.failed) == ["b"]
    with pytest.raises(StackError, match="the disk is full"):
        run_each(["b"], one)
    with pytest.raises(StackError, match="no stack ran the model"):
        run_each(["b", "b2"], fails)


def fails(name: str) -> int:
    raise MLModelScopeError(f"{name} failed")


def test_names_are_taken_once(settings: Settings) -> None:
    assert names_in(" a, b,a,,") == ["a", "b"]
    with pytest.raises(UsageError, match="names no stack"):
        names_in(",")


def test_a_failed_stack_is_in_the_table_and_in_the_exit_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*arguments: object) -> None:
        raise StackError("no space left")

    monkeypatch.setattr(StackStore, "_build", full)
    done = run("evaluate", "net.yml", "data.yml", "--stacks", "current,opencv-4")
    assert done.returncode == 1 and "opencv-4: no space left" in done.stdout and "current" in done.stdout
