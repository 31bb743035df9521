"""Every parser of foreign bytes gives an answer or an error of ours, whatever the bytes are.

`make fuzz` tries much; the tests try little. What was once found stays as an example.
"""

import contextlib
import io
import json
import socket
import struct
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from damage import damaged
from hypothesis import example, given
from hypothesis import strategies as st

from author.samples import TEXTS
from bombs import NAMES, bomb
from mlmodelscope.author.make import make_manifest
from mlmodelscope.author.request import Request
from mlmodelscope.dataset.arrays import read_arrays
from mlmodelscope.dataset.cifar import read_cifar10, read_cifar100
from mlmodelscope.dataset.coco_masks import decompress, mask_of, points_of
from mlmodelscope.dataset.mnist import read_mnist
from mlmodelscope.dataset.panoptic import read_panoptic
from mlmodelscope.dataset.rows import read_rows
from mlmodelscope.dataset.sample import NamedFile
from mlmodelscope.errors import ArtifactError, DatasetError, MLModelScopeError, UsageError
from mlmodelscope.inference.refusal import Refusal
from mlmodelscope.inference.rest_tensors import read_question
from mlmodelscope.inspection.summary import summarize
from mlmodelscope.lint.check import check_text
from mlmodelscope.lint.subject import NOWHERE
from mlmodelscope.manifest.load import parse_document
from mlmodelscope.manifest.schema import Labels
from mlmodelscope.model_file.caffe_text import parse_text
from mlmodelscope.model_file.describe import describe_model, read_network
from mlmodelscope.model_file.model_file import ModelFileError
from mlmodelscope.plan.plan import PlannedDataset, Subset
from mlmodelscope.provision.archive import extract_member
from mlmodelscope.record.bundle import read_record
from mlmodelscope.record.journal import Journal
from mlmodelscope.record.packed import opened
from mlmodelscope.task.png import read_levels, write_png
from mlmodelscope.tensor_file.read import read_tensors
from mlmodelscope.trace.intake import document_of_json, read_message
from mlmodelscope_worker.pipeline.column_values import Categories, Codes, PerColumn, checked, of_file
from mlmodelscope_worker.predictor import ModelError
from mlmodelscope_worker.predictor.lightgbm_file import check_model
from mlmodelscope_worker.protocol import Channel, Closed
from model_file import small_models
from model_file.small_models import FILES as SMALL_MODELS

ROOT = Path(__file__).parent.parent.parent
MODELS = [path for path in sorted((ROOT / "tests" / "model_file" / "files").iterdir()) if path.is_file()]
MANIFESTS = [path.read_bytes() for path in sorted((ROOT / "manifests" / "models").glob("*.yml"))[:8]]
for kind in ("datasets", "software", "hardware", "logs"):
    MANIFESTS += [path.read_bytes() for path in sorted((ROOT / "manifests" / kind).glob("*.yml"))[:4]]
CONFIGURATIONS = [TEXTS[name] for name in ("tokenizer", "generation", "model_card", "eval_results", "llama")]


@contextlib.contextmanager
def written(body: bytes, name: str = "data.bin") -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / name
        path.write_bytes(body)
        yield path


@given(damaged(*MANIFESTS))
@example(b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n")
@example(b"name: " + b"[" * 5000)
@example(b"!!python/object/apply:os.system ['id']")
@example(b"name: a\ninputs: []\npreprocess: |\n" + b"  x = [1, 2, 3]\n" * 20_000)
def test_manifests(body: bytes) -> None:
    with contextlib.suppress(MLModelScopeError):
        parse_document(body, "x.yml", NOWHERE).manifest()


A_TASK = b"""\
task: gsm
dataset_path: json
dataset_kwargs: {data_files: {test: a.jsonl, train: b.jsonl}}
test_split: test
fewshot_split: train
num_fewshot: 2
fewshot_config: {sampler: first_n, samples: [{question: a, answer: b}], target_delimiter: ''}
output_type: generate_until
doc_to_text: "Q: {{question}}"
doc_to_target: "{{answer}}"
doc_to_choice: [a, '{{b}}']
generation_kwargs: {until: [x], max_gen_toks: 5, do_sample: true, temperature: 0.5}
filter_list:
  - {name: a, filter: [{function: regex, regex_pattern: '(a+)+$', group_select: -1}, {function: take_first}]}
metric_list: [{metric: exact_match, regexes_to_ignore: [','], ignore_case: true}]
process_docs: !function utils.x
"""


@given(damaged(A_TASK, A_TASK.replace(b"process_docs: !function utils.x\n", b"")))
@example(b"task: a\ninclude: [/etc/passwd, ../x, .]\n")
@example(b"task: a\ndoc_to_text: " + b"{" * 100_000)
@example(b"task: a\noutput_type: !function a\ngeneration_kwargs: !function b\nfewshot_config: !function c\n")
@example(b"task: [" + b"{task: a}, " * 1000 + b"]\n")
def test_tasks_of_the_harness(body: bytes) -> None:
    with contextlib.suppress(MLModelScopeError):
        parse_document(body, "task.yaml", NOWHERE).manifest()
    with contextlib.suppress(MLModelScopeError):
        check_text(body.decode("utf-8", "replace"), "task.yaml", NOWHERE)


@given(damaged(*(text.encode() for text in CONFIGURATIONS)))
@example(b"\n" * 5000 + b"#")
@example(b"---\n" * 5000)
@example(b"- dataset: 1\n")
@example(b"---\nmodel-index: [{results: [{metrics: [{value: .nan}, {value: 1e999}, {type: [a], value: -0}]}]}]\n---\n")
def test_configurations_of_others(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(MLModelScopeError):
        make_manifest(Request(configs=(path,)))


@given(damaged(*MANIFESTS))
@example(b"name: x\nname: y\n")
def test_checks_of_manifests(body: bytes) -> None:
    with contextlib.suppress(MLModelScopeError):
        check_text(body.decode("utf-8", "replace"), "x.yml", NOWHERE)


def archives() -> list[bytes]:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("in/a", b"a" * 2000)
        packed.writestr("in/b", b"b", zipfile.ZIP_BZIP2)
        packed.writestr("in/c", b"c" * 300, zipfile.ZIP_LZMA)
    return [out.getvalue(), *(bomb(name)[:4096] for name in ("tar-gz", "tar-bz2", "tar-xz", "tar-gz-sparse"))]


@given(damaged(*archives()))
def test_archives(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(ArtifactError):
        extract_member(path, "in/", path.parent / "out")


@pytest.mark.parametrize("name", NAMES)
def test_archives_that_were_once_a_trouble(name: str) -> None:
    with written(bomb(name)[: 1 << 16]) as path, contextlib.suppress(ArtifactError):
        extract_member(path, "x/", path.parent / "out")


def a_bundle() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("record.json", json.dumps({"id": "20260101-000000-abcdef", "status": "finished"}))
        packed.writestr("samples.parquet", b"PAR1")
    return out.getvalue()


@given(damaged(a_bundle()))
@example(bomb("zip-bzip2"))
def test_bundles(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(UsageError), opened(path, 1 << 20, "bundle") as packed:
        read_record(packed)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_model_files(path: Path) -> None:
    @given(damaged(path.read_bytes()))
    def describe(body: bytes) -> None:
        with written(body, path.name) as copy, contextlib.suppress(ModelFileError):
            describe_model(copy)
        with written(body, path.name) as copy, contextlib.suppress(ModelFileError):
            summarize(read_network(copy), {})

    describe()


@pytest.mark.parametrize("name", sorted(SMALL_MODELS))
def test_networks(name: str) -> None:
    files = SMALL_MODELS[name]

    @given(damaged(*files.values()), st.sampled_from(sorted(files)))
    def read(body: bytes, which: str) -> None:
        with written(b"", "x") as place, contextlib.suppress(ModelFileError):
            for other, content in files.items():
                (place.parent / other).write_bytes(body if other == which else content)
            summarize(read_network(place.parent / next(iter(files))), {})

    read()


@given(damaged(small_models.PROTOTXT.encode()))
@example(b"layer {" * 5000)
@example(b'layer { name: "' + b"a" * 100_000)
@example(b"layer: [" + b"1, " * 50_000)
def test_texts_of_protocol_buffers(body: bytes) -> None:
    with contextlib.suppress(ModelFileError):
        parse_text(body)


def safetensors() -> bytes:
    head = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return len(head).to_bytes(8, "little") + head + bytes(8)


@given(damaged(safetensors(), *(path.read_bytes() for path in MODELS if path.suffix in (".pt", ".pth", ".onnx"))))
@example((1 << 62).to_bytes(8, "little") + b"{}")
def test_weights(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(ArtifactError):
        read_tensors(path)


def array(kind: str, shape: tuple[int, ...], values: bytes) -> bytes:
    head = repr({"descr": kind, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\1\0" + len(head).to_bytes(2, "little") + head + values


def idx(*sizes: int) -> bytes:
    return bytes((0, 0, 8, len(sizes))) + b"".join(size.to_bytes(4, "big") for size in sizes) + bytes(2 * 9)


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (9).to_bytes(4, "big") + (2).to_bytes(4, "big") + b"\x08\0\0\0\0" + bytes(4)
PACKED = {
    "arrays": (read_arrays, array("|u1", (2, 3, 3), bytes(18)), array("<i8", (2,), bytes(16))),
    "mnist": (read_mnist, idx(2, 3, 3), idx(2)[:10]),
    "cifar10": (read_cifar10, bytes(2 * 3073), b""),
    "cifar100": (read_cifar100, bytes(2 * 3074), b""),
    "rows": (read_rows, PNG, b"[0, 1]"),
}
"""How each is read, its samples and its labels."""


def planned(form: str, shape: tuple[int, ...] | None = None) -> PlannedDataset:
    return PlannedDataset(
        name="theirs",
        version="1.0.0",
        format=form,
        sources=(),
        include="*",
        labels=Labels(),
        classes=None,
        shape=shape,
        size=None,
        subset=Subset(count=None, stratified=False, seed=0),
    )


@pytest.mark.parametrize("name", PACKED)
def test_packed_datasets(name: str) -> None:
    reads, samples, labels = PACKED[name]
    dataset = planned(name, shape=(3, 3, 1) if name in ("arrays", "mnist", "rows") else None)

    def read(body: bytes, words: bytes) -> int:
        with written(body) as path:
            beside = path.with_name("labels")
            beside.write_bytes(words)
            return len(reads(NamedFile(path, "data.bin"), NamedFile(beside, "labels"), dataset))

    @given(damaged(samples), damaged(labels))
    def either(body: bytes, words: bytes) -> None:
        for each in ((body, labels), (samples, words)):
            with contextlib.suppress(DatasetError):
                read(*each)

    assert read(samples, labels) == 2
    either()


TENSOR = b'{"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],%s}]}'


@given(
    damaged(
        TENSOR % b'"data":[[0.5,1]]',
        TENSOR % b'"parameters":{"binary_data_size":8}' + bytes(8),
        TENSOR.replace(b"FP32", b"BOOL") % b'"data":[true,false]',
    ),
    st.one_of(st.none(), st.just("93"), st.integers(0, 200).map(str), st.text(max_size=9)),
)
@example(b"{}", "9" * 5000)
def test_tensors_of_questions(body: bytes, cut: str | None) -> None:
    with contextlib.suppress(Refusal):
        read_question("model", "1", body, cut)


@given(st.binary(max_size=400))
@example(b"\xff" * 12)
def test_journals(body: bytes) -> None:
    with written(body) as path, contextlib.suppress(MLModelScopeError):
        list(Journal.read(path))


@given(damaged(b'\0\0\0\x0f{"buffers":[3]}abc', b"\0\0\0\x02{}"))
@example(b"\xff\xff\xff\xff")
@example(b'\0\0\0\x17{"buffers":[4294967295]}')
def test_frames_of_workers(body: bytes) -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(body)
    theirs.close()
    channel = Channel(ours)
    with contextlib.suppress(Closed):
        while True:
            channel.receive()
    channel.close()


SPAN = b'{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%s","spanId":"%s","name":"a"}]}]}]}' % (
    b"1" * 32,
    b"2" * 16,
)


@given(damaged(SPAN))
@example(b"[" * 100_000)
def test_spans(body: bytes) -> None:
    with contextlib.suppress(UsageError):
        read_message(document_of_json(body))


@given(damaged(b"\x0a\x10\x12\x0e\x12\x0c\x0a\x02\x31\x32\x2a\x03abc\x30\x01"))
@example(b"\x0a\x06\x12\x04\x12\x00\x12\x00")
def test_spans_of_protocol_buffers(body: bytes) -> None:
    pytest.importorskip("grpc", reason="the server's packages are not installed")
    from mlmodelscope.server.rpc.otlp import protobuf_document

    with contextlib.suppress(UsageError):
        read_message(protobuf_document(body))


DEEP = write_png(bytes(range(24)), 8, 3, 1).replace(struct.pack(">IIB", 8, 3, 8), struct.pack(">IIB", 4, 3, 16))


@given(damaged(write_png(bytes(range(12)), 4, 3, 1), write_png(bytes(36), 4, 3, 3), DEEP))
@example(b"\x89PNG\r\n\x1a\n")
@example(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\xff\xff\xff\xff\xff\xff\xff\xff\x08\0\0\0\0" + bytes(16))
def test_maps_of_classes(body: bytes) -> None:
    found = read_levels(body)
    assert found is None or len(found.plane) == found.width * found.height
    assert found is None or set(found.plane) <= set(range(len(found.numbers)))


PANOPTIC = json.dumps(
    {
        "images": [{"id": 1, "file_name": "a.png"}],
        "categories": [{"id": 3, "name": "cat"}],
        "annotations": [{"image_id": 1, "file_name": "a.png", "segments_info": [{"id": 7, "category_id": 3}]}],
    }
).encode()


@given(damaged(PANOPTIC))
@example(b'{"images": [7], "annotations": []}')
@example(b'{"images": [], "annotations": [[]], "categories": [{"id": 1, "name": []}]}')
@example(b'{"images": [], "annotations": [], "categories": 7}')
@example(PANOPTIC.replace(b'[{"id": 7', b'7, "x": [{"id": 7'))
def test_panoptic_annotations(body: bytes) -> None:
    with written(body, "panoptic.json") as path:
        (path.parent / "a.png").write_bytes(b"")
        folder = NamedFile(path.parent, "folder")
        with contextlib.suppress(DatasetError):
            read_panoptic(folder, folder, planned("panoptic"))


@given(st.one_of(st.text(max_size=60), st.lists(st.integers(-5, 2**40), max_size=20)), st.lists(st.integers(0, 99)))
@example("o" * 40, [4, 6])
@example([2**70], [4, 6])
def test_run_lengths_of_strangers(counts: object, size: list[int]) -> None:
    with contextlib.suppress(DatasetError):
        found = mask_of({"segmentation": {"size": size, "counts": counts}}, "annotation 1", (4, 6))
        assert sum(decompress(found)) == 24


_ODD = st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=5), st.booleans())


@given(st.recursive(_ODD, lambda inner: st.lists(inner, max_size=8), max_leaves=30))
def test_polygons_and_keypoints_of_strangers(given: object) -> None:
    with contextlib.suppress(DatasetError):
        mask_of({"segmentation": given}, "annotation 1", (4, 6))
    with contextlib.suppress(DatasetError):
        points_of({"keypoints": given}, "annotation 1", 2)


TREES = b"""tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=3
tree_sizes=9

Tree=0
num_leaves=3
num_cat=1
split_feature=0 3
threshold=0.5 0
decision_type=2 1
left_child=1 -1
right_child=-3 -2
leaf_value=0.1 -0.1 2
cat_boundaries=0 1
cat_threshold=6
is_linear=0

end of trees

parameters:
end of parameters
"""


@given(damaged(TREES))
@example(TREES.replace(b"threshold=0.5 0", b"threshold=0.5 inf"))
@example(TREES.replace(b"threshold=0.5 0", b"threshold=0.5 nan"))
def test_trees_of_strangers(body: bytes) -> None:
    assert check_model(TREES.decode()) == 4
    with contextlib.suppress(ValueError):
        check_model(body.decode("utf-8"))


VALUES = [
    b'{"a": {"mean": 1, "std": 2}}',
    b'{"a": ["x", 1, null]}',
    b"column,category,value\na,x,1\n",
    b"column,value\na,1\n",
]


@given(damaged(*VALUES), st.sampled_from([("value",), ("category",), ("category", "value"), ("mean", "std")]))
@example(b'{"a": 1e999, "b": NaN}', ("value",))
@example(b"[" * 5000, ("value",))
def test_values_of_columns(body: bytes, fields: tuple[str, ...]) -> None:
    with written(body) as path:
        for kind in (PerColumn(""), PerColumn("", texts=True, nonzero=True), Categories(""), Codes("")):
            with contextlib.suppress(ModelError):
                checked(kind, of_file(str(path), fields), str(path))
