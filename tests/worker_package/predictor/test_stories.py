"""stories260K writes the text that its author published, character by character, in every engine that is installed.

Engines are found out one by one; where none is, and where the checkpoint is missing, tests skip with the reason.
"""

import hashlib
import importlib
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Iterator

import pytest

from mlmodelscope_worker.language_session import open_language_model
from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS
from worker_package.predictor.llamas import Llama, stories, write_folder, write_gguf

SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[4] / "shared") / "tasks" / "lm"
PUBLISHED = "30b2ffb07967932a88bfdf5e23b517a6f4cfcf7231db9e537360d3c12a4e4d10"
FIRST = [403, 407, 261, 378, 432, 383, 286, 261, 376, 298, 315, 421, 395, 317, 426]
LIKELIHOOD = -0.45735
SETTINGS = {
    "longest": 256,
    "stop": [],
    "stop_tokens": [1],
    "temperature": 0.0,
    "top_k": None,
    "top_p": None,
    "seed": 0,
}  # type: Dict[str, Any]

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (SHARED / "stories260K.bin").exists(), reason="needs stories260K of ../shared"),
]


@pytest.fixture(scope="module")
def llama() -> Llama:
    return stories(SHARED)


def needs(*modules: str) -> None:
    for each in modules:
        pytest.importorskip(each, reason="%s is not installed" % each)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def check(name: str, graph: Path, decode: Any = None, **options: Any) -> None:
    with open_language_model(PredictorTask(name, {"graph": str(graph)}, PREDICTORS[name].resolve(options))) as model:
        written = model.write([[1], [1]], SETTINGS, decode or model.decode, None)
        for one in written:
            assert one.tokens[:15] == FIRST and len(one.tokens) == 256
            assert digest(one.text) == PUBLISHED
        ((logs, best),) = model.score([([1], written[0].tokens)])
        assert best.all() and abs(float(logs.mean()) - LIKELIHOOD) < 2e-4


@pytest.mark.slow(reason="imports transformers and PyTorch")
def test_transformers_writes_the_published_text(llama: Llama, tmp_path: Path) -> None:
    needs("transformers", "torch", "safetensors")
    check("transformers", write_folder(llama, tmp_path))


@pytest.mark.parametrize("fills", [True, False])
def test_onnxruntime_writes_the_published_text(llama: Llama, tmp_path: Path, fills: bool) -> None:
    needs("onnxruntime", "onnx", "tokenizers")
    from worker_package.predictor.onnx_llama import write_onnx

    check("onnxruntime", write_onnx(llama, tmp_path, fills=fills))


def test_llama_cpp_writes_the_published_text(llama: Llama, tmp_path: Path) -> None:
    needs("llama_cpp", "gguf")
    check("llama_cpp", write_gguf(llama, tmp_path / "stories.gguf"), batch=2)


def test_words_are_cut_into_the_same_tokens(llama: Llama, tmp_path: Path) -> None:
    needs("llama_cpp", "gguf")
    graph = {"graph": str(write_gguf(llama, tmp_path / "stories.gguf"))}
    with open_language_model(PredictorTask("llama_cpp", graph, PREDICTORS["llama_cpp"].resolve({}))) as model:
        assert model.encode("Once upon a time", True) == [1] + FIRST[:4]


@pytest.fixture
def real_server(llama: Llama, tmp_path: Path) -> Iterator[str]:
    needs("llama_cpp", "gguf", "fastapi", "uvicorn", "sse_starlette", "starlette_context", "pydantic_settings")
    importlib.import_module("llama_cpp.server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = [sys.executable, "-m", "llama_cpp.server", "--model", str(write_gguf(llama, tmp_path / "stories.gguf"))]
    words += [
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--n_ctx",
        "512",
        "--logits_all",
        "true",
        "--n_gpu_layers",
        "0",
    ]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(words, stdout=log, stderr=log)
    try:
        for _ in range(600):
            assert process.poll() is None, (tmp_path / "log").read_text(errors="replace")[-2000:]
            try:
                urllib.request.urlopen("http://127.0.0.1:%d/v1/models" % port, timeout=5).close()
                break
            except OSError:
                time.sleep(0.2)
        yield "http://127.0.0.1:%d" % port
    finally:
        process.kill()
        process.wait()


def opened(url: str, **options: Any) -> Any:
    given = PREDICTORS["openai"].resolve(dict({"url": url, "model": "stories"}, **options))
    return open_language_model(PredictorTask("openai", {}, given))


def test_a_real_server_writes_the_published_text(real_server: str) -> None:
    found = []  # type: List[str]
    for streams in (True, False):
        # its own default is a penalty, with which a greedy text is another one
        with opened(real_server, streams=streams, question={"repeat_penalty": 1.0}) as model:
            model.expect("write", 1)
            (one,) = model.write(["Once upon a time"], dict(SETTINGS, longest=252, stop_tokens=None), None, None)
            found.append("Once upon a time" + one.text)
            assert one.ending == "length" and (len(one.moments) > 200) == streams
    assert [digest(each) for each in found] == [PUBLISHED] * 2


def test_a_real_server_scores_as_the_engine_itself_does(real_server: str, llama: Llama, tmp_path: Path) -> None:
    pairs = [
        ("Once upon a time", ", there was a little girl"),
        ("Lily loved to", " play"),
        ("One day", " she saw a cat."),
    ]
    with opened(real_server) as model:
        model.expect("choose", 1)
        served = model.score(pairs)
    graph = {"graph": str(write_gguf(llama, tmp_path / "stories.gguf"))}
    with open_language_model(PredictorTask("llama_cpp", graph, PREDICTORS["llama_cpp"].resolve({}))) as engine:
        rows = []
        for context, continuation in pairs:
            before, whole = engine.encode(context, True), engine.encode(context + continuation, True)
            rows.append((before, whole[len(before) :]))
        for (logs, best), (wanted, likeliest) in zip(served, engine.score(rows)):
            assert len(logs) == len(wanted) and abs(logs - wanted).max() < 2e-3
            assert list(best) == list(likeliest)
