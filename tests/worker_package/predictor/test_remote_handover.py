"""Files handed over before inference: a device's agent that refuses until the right firmware has arrived.

MLMODELSCOPE_TEST_TRITON may list addresses of a real Triton, separated by commas, with the Python backend and started
with --model-control-mode=explicit.
"""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Dict, Iterator

import numpy as np
import pytest

from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError, Predictor
from mlmodelscope_worker.predictor.remote_handover import MARK, parts_of
from mlmodelscope_worker.session import open_predictor
from worker_package.predictor.conformance import batch
from worker_package.predictor.device_agent import Agent


def firmware(folder: Path, seed: int = 0) -> str:
    path = folder / ("matrix%d.bit" % seed)
    path.write_bytes(np.random.default_rng(seed).integers(-127, 128, 1920).astype(np.int8).tobytes())
    return str(path)


def digest(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with Agent([digest(firmware(tmp_path, seed)) for seed in (0, 1)]) as started:
        yield started


def load(agent: Agent, files: Dict[str, str], **options: Any) -> Predictor:
    resolved = PREDICTORS["remote"].resolve(dict({"url": agent.url, "model": "matrix"}, **options))
    return open_predictor(PredictorTask("remote", files, resolved))


def test_a_device_answers_with_what_its_firmware_makes_of_it(agent: Agent, tmp_path: Path) -> None:
    path = firmware(tmp_path)
    with pytest.raises(ModelError, match="it answered 404 .*: the device has no firmware for `matrix`"):
        load(agent, {})
    with load(agent, {"firmware": path}) as predictor:
        answer = predictor.run([batch(3)])[0]
    weights = np.frombuffer(Path(path).read_bytes(), np.int8).reshape(192, 10).astype(np.float32) / 127
    assert np.allclose(answer, batch(3).reshape(3, -1) @ weights, rtol=1e-5)


def test_what_the_server_says_of_itself_and_what_it_was_given_is_kept(agent: Agent, tmp_path: Path) -> None:
    path = firmware(tmp_path)
    with load(agent, {"firmware": path}) as predictor:
        assert predictor.server == {
            "address": agent.url,
            "name": "device-agent",
            "version": "1.0",
            "model": "matrix",
            "model_versions": ["1"],
            "platform": "matrix-device",
            "files": {"firmware/matrix0.bit": digest(path)},
        }


def test_what_was_loaded_here_is_unloaded_and_nothing_else(agent: Agent, tmp_path: Path) -> None:
    with load(agent, {"firmware": firmware(tmp_path)}) as first:
        with load(agent, {"firmware": firmware(tmp_path)}) as second, load(agent, {}) as third:
            assert np.array_equal(first.run([batch(1)])[0], second.run([batch(1)])[0])
            third.run([batch(1)])
        assert "matrix" in agent.devices  # the two that found it loaded left it
    assert agent.devices == {}
    with load(agent, {"firmware": firmware(tmp_path)}, load="keep"):
        pass
    assert "matrix" in agent.devices


def test_another_model_of_that_name_is_replaced_only_if_asked_for(agent: Agent, tmp_path: Path) -> None:
    with load(agent, {"firmware": firmware(tmp_path, 0)}, load="keep") as before:
        kept = before.run([batch(1)])[0]
    with pytest.raises(ModelError, match="has a model `matrix` already, and not from these files; .*`load=replace`"):
        load(agent, {"firmware": firmware(tmp_path, 1)})
    with load(agent, {"firmware": firmware(tmp_path, 1)}, load="replace") as after:
        assert not np.array_equal(after.run([batch(1)])[0], kept)


def test_with_never_the_server_is_believed_to_have_them(agent: Agent, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the device has no firmware"):
        load(agent, {"firmware": firmware(tmp_path)}, load="never")
    with load(agent, {"firmware": firmware(tmp_path)}), load(agent, {"firmware": "/nowhere"}, load="never") as found:
        assert found.server["files"] == {}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x01" * 1920, "could not be loaded: it answered 403 Forbidden: the firmware [0-9a-f]{64} is not one that"),
        (b"", "could not be loaded: it answered 403 "),
    ],
)
def test_firmware_that_the_agent_refuses_is_an_error_with_its_words(
    agent: Agent, tmp_path: Path, content: bytes, message: str
) -> None:
    (tmp_path / "other.bit").write_bytes(content)
    with pytest.raises(ModelError, match=message):
        load(agent, {"firmware": str(tmp_path / "other.bit")})
    assert agent.devices == {}


def test_a_device_that_takes_its_time_is_waited_for(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = []
    monkeypatch.setattr("mlmodelscope_worker.predictor.remote_handover._LOOK_EVERY_S", 0)
    from mlmodelscope_worker.predictor.remote_rest import Rest

    really = Rest.is_ready

    def is_ready(self: Rest) -> bool:
        looks.append(really(self))
        return looks[-1] and len(looks) > 4

    monkeypatch.setattr(Rest, "is_ready", is_ready)
    with load(agent, {"firmware": firmware(tmp_path)}) as predictor:
        assert looks == [False, True, True, True, True]
        predictor.run([batch(1)])
    monkeypatch.setattr(Rest, "is_ready", lambda self: False)
    with pytest.raises(ModelError, match=r"it was loaded but is not ready after 0\.01 s"):
        load(agent, {"firmware": firmware(tmp_path)}, load_timeout_s=0.01)
    assert agent.devices == {}


def test_a_server_that_does_not_confirm_the_files_is_not_believed(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """MLServer, for one, takes no files and loads whatever it has under that name."""
    really = agent.load
    monkeypatch.setattr(
        agent,
        "load",
        lambda name, parameters: (really(name, parameters), agent.devices[name].config["parameters"].pop(MARK)),
    )
    with pytest.raises(ModelError, match="loaded `matrix` but does not confirm that it took our files"):
        load(agent, {"firmware": firmware(tmp_path)})
    assert agent.devices == {}


def test_a_model_that_cannot_be_used_is_taken_back(
    agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mlmodelscope_worker.predictor.remote_rest import Rest

    monkeypatch.setattr(Rest, "describe", lambda self: {"inputs": [], "outputs": []})
    with pytest.raises(ModelError, match="does not say what the model takes and gives"):
        load(agent, {"firmware": firmware(tmp_path)})
    assert agent.devices == {}


def test_files_get_the_names_that_they_have_in_a_model_repository(tmp_path: Path) -> None:
    (tmp_path / "net.xml").write_text("<net/>")
    (tmp_path / "net.bin").write_bytes(b"weights")
    (tmp_path / "repository" / "2").mkdir(parents=True)
    (tmp_path / "repository" / "2" / "model.py").write_text("pass")
    (tmp_path / "repository" / "labels.txt").write_text("cat")
    pair = {"graph": str(tmp_path / "net.xml"), "weights": str(tmp_path / "net.bin")}
    assert [part.name for part in parts_of(pair, None)] == ["1/model.xml", "1/model.bin"]
    assert [part.name for part in parts_of(pair, "3")] == ["3/model.xml", "3/model.bin"]
    folder = {"graph": str(tmp_path / "repository"), "firmware": str(tmp_path / "net.bin")}
    assert [part.name for part in parts_of(folder, None)] == ["labels.txt", "2/model.py", "firmware/net.bin"]
    with pytest.raises(ModelError, match="two files would have the same name"):
        parts_of(dict(pair, weights=pair["graph"]), None)


def test_the_configuration_goes_with_the_files(agent: Agent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    really = agent.load
    monkeypatch.setattr(agent, "load", lambda name, said: (seen.append(json.loads(said["config"])), really(name, said)))
    files = {"firmware": firmware(tmp_path)}
    with load(agent, files, config='{"backend": "ours", "parameters": {"lanes": {"string_value": "4"}}}'):
        pass
    assert seen[0]["backend"] == "ours" and seen[0]["parameters"]["lanes"] == {"string_value": "4"}
    with load(agent, files):
        pass
    assert seen[1]["parameters"][MARK] != seen[0]["parameters"][MARK]  # another configuration is another model
    for wrong in ("{", "[]", '{"parameters": 3}'):
        with pytest.raises(ModelError, match="`config` is no"):
            load(agent, files, config=wrong)


@pytest.mark.parametrize("size", [0, 1, 2, 3, (3 << 16) - 1, 3 << 16, (3 << 16) + 1])
def test_files_of_any_length_arrive_whole(tmp_path: Path, size: int) -> None:
    import base64

    content = np.random.default_rng(size).bytes(size)
    (tmp_path / "x.onnx").write_bytes(content)
    (part,) = parts_of({"graph": str(tmp_path / "x.onnx")}, None)
    encoded = b"".join(part.encoded())
    assert len(encoded) == part.encoded_size and base64.b64decode(encoded) == content
    assert part.size == size and part.sha256 == hashlib.sha256(content).hexdigest()


TRITON = [url.strip() for url in os.environ.get("MLMODELSCOPE_TEST_TRITON", "").split(",") if url.strip()]
PROGRAM = """
import numpy as np
import triton_python_backend_utils as triton


class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "input", "data_type": "TYPE_FP32", "dims": [3, 8, 8]})
        config.add_output({"name": "scores", "data_type": "TYPE_FP32", "dims": [10]})
        config.set_max_batch_size(8)
        return config

    def execute(self, requests):
        answers = []
        for request in requests:
            pictures = triton.get_input_tensor_by_name(request, "input").as_numpy()
            scores = pictures.reshape(len(pictures), -1)[:, :10] * 2
            answers.append(triton.InferenceResponse([triton.Tensor("scores", scores)]))
        return answers
"""


@pytest.mark.skipif(not TRITON, reason="MLMODELSCOPE_TEST_TRITON names no server")
@pytest.mark.parametrize("url", TRITON)
def test_a_real_triton_runs_what_it_is_handed(url: str, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    files, options = {"graph": str(tmp_path / "program.py")}, {"url": url, "model": "handed-over", "load": "auto"}
    declaration = PREDICTORS["remote"]
    with declaration.function(files, **declaration.resolve(options)) as predictor:
        assert predictor.server["name"] == "triton" and predictor.server["platform"] == "python"
        answer = predictor.run([batch(3)])[0]
        assert np.array_equal(answer, batch(3).reshape(3, -1)[:, :10] * 2)
        with pytest.raises(ModelError, match="batch-size must be <= 8"):
            predictor.run([np.zeros((9, 3, 8, 8), np.float32)])
    with pytest.raises(ModelError, match="cannot answer for the model `handed-over`"):
        declaration.function({}, **declaration.resolve(options))
    (tmp_path / "program.py").write_text("broken(")
    with pytest.raises(ModelError, match="could not be loaded: it answered .*SyntaxError"):
        declaration.function(files, **declaration.resolve(options))
