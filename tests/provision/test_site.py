"""What a plan needs is here: the model's files by role, joined where they belong together."""

from pathlib import Path

import pytest

from mlmodelscope.errors import ChecksumError
from mlmodelscope.manifest.load import load_manifest
from mlmodelscope.manifest.schema import DatasetManifest, ModelManifest
from mlmodelscope.plan.make import make_plan
from mlmodelscope.plan.options import Options
from mlmodelscope.plan.plan import Plan
from mlmodelscope.plan.stack import StackDescription
from mlmodelscope.provision import site
from mlmodelscope.provision.artifact import ArtifactStore

STACK = StackDescription("current", "3.11.0", {"numpy": "2.0.0", "onnxruntime": "1.20.0", "pillow": "10.0.0"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "graph.onnx").write_bytes(b"graph")
    (tmp_path / "weights.pth").write_bytes(b"weights")
    return tmp_path


def plan(store: ArtifactStore, framework: str, graph: Path, weights: Path | None = None, threads: int = 1) -> Plan:
    source = {"graph_path": str(graph)} | ({"weights_path": str(weights)} if weights else {})
    about = {"version": "1.0.0", "task": "classification"}
    model = load_manifest(
        {**about, "name": "net", "framework": {"name": framework}, "source": source}
        | {"inputs": [{"type": "image"}], "outputs": [{"type": "probability"}]}
    )
    dataset = load_manifest({**about, "name": "data", "format": "list", "sources": [{"url": str(graph)}]})
    assert isinstance(model, ModelManifest) and isinstance(dataset, DatasetManifest)
    pins = {str(path): store.fetch(str(path)).sha256 for path in (graph, weights) if path}
    return make_plan(model, dataset, Options(threads=threads), STACK, pins)


def test_a_model_of_one_file(store: ArtifactStore, folder: Path) -> None:
    found = site.provision(plan(store, "onnxruntime", folder / "graph.onnx"), store)
    assert found.model_files == {"graph": str(folder / "graph.onnx")}


def test_a_model_that_is_a_folder(store: ArtifactStore, folder: Path) -> None:
    (folder / "saved_model").mkdir()
    (folder / "saved_model/net.pb").write_bytes(b"x")
    found = site.provision_model(plan(store, "fake", folder / "saved_model"), store)
    assert found == {"graph": str(folder / "saved_model")}


def test_a_graph_and_its_weights(store: ArtifactStore, folder: Path) -> None:
    graph = (folder / "graph.onnx").rename(folder / "graph.prototxt")  # of a framework whose models are two files
    found = site.provision_model(plan(store, "fake", graph, folder / "weights.pth"), store)
    assert found == {"graph": str(graph), "weights": str(folder / "weights.pth")}


def test_an_onnx_graph_and_its_weights_are_joined_once(
    store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def join(graph: Path, weights: Path, key: str | None, draft: Path) -> None:
        made.append(draft)
        draft.write_bytes(graph.read_bytes() + weights.read_bytes())

    monkeypatch.setattr(site, "_join", join)
    planned = plan(store, "onnxruntime", folder / "graph.onnx", folder / "weights.pth")
    files = [site.provision_model(planned, store)["graph"] for _ in range(2)]
    assert Path(files[0]).read_bytes() == b"graphweights" and files[0] == files[1] and len(made) == 1


def test_a_model_that_changed_since_it_was_planned_is_refused(store: ArtifactStore, folder: Path) -> None:
    planned = plan(store, "onnxruntime", folder / "graph.onnx")
    (folder / "graph.onnx").write_bytes(b"another")
    with pytest.raises(ChecksumError, match=r"graph\.onnx"):
        site.provision(planned, store)


@pytest.mark.parametrize(("threads", "lanes"), [(1, 8), (3, 2), (8, 1), (100, 1)])
def test_lanes_share_the_cores(
    store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch, threads: int, lanes: int
) -> None:
    monkeypatch.setattr(site, "available_cores", lambda: 8)
    found = site.provision(plan(store, "onnxruntime", folder / "graph.onnx", threads=threads), store)
    assert (found.lanes, found.threads) == (lanes, 8)
