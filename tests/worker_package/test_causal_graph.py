"""Decoders' graphs as language models, on ONNX Runtime: held to the suite of all engines, and to what files may say."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
onnx = pytest.importorskip("onnx", reason="onnx writes the graphs")
pytest.importorskip("tokenizers", reason="the models' own words are read by tokenizers")

from mlmodelscope_worker import causal_graph  # noqa: E402
from mlmodelscope_worker.predictor import ModelError  # noqa: E402
from mlmodelscope_worker.predictor.model_folder import Facts, graph_of  # noqa: E402
from worker_package.predictor import onnx_models  # noqa: E402
from worker_package.predictor.language_conformance import SETTINGS, LanguageConformance, never  # noqa: E402
from worker_package.predictor.llamas import random_llama  # noqa: E402
from worker_package.predictor.onnx_llama import write_onnx  # noqa: E402


class TestCausalGraph(LanguageConformance):
    name = "onnxruntime"
    graph = {}  # type: Dict[str, bool]

    def save(self, folder: Path, seed: int = 0, spoiled: bool = False) -> dict[str, str]:
        return {"graph": str(write_onnx(random_llama(seed, spoiled), folder / "tiny", **self.graph))}


class TestWithoutPositions(TestCausalGraph):
    """Rows of one length go together: filled up, they would be others."""

    graph = {"fills": False}


class TestWithoutPast(TestCausalGraph):
    """The whole text is read again for each token."""

    graph = {"with_past": False}


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return write_onnx(random_llama(), tmp_path / "tiny")


def opened(graph: Path) -> Any:
    return TestCausalGraph().open({"graph": str(graph)})


def test_what_is_read_in_pieces_is_as_likely(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = TestCausalGraph().rows()
    with opened(tiny) as model:
        whole, text = model.score(rows), model.write([row[0] for row in rows], SETTINGS, model.decode, never)
        monkeypatch.setattr(causal_graph, "_MOST_SCORES", 275 * 14)
        calls = []  # type: List[Any]
        run = model.graph.predictor.run
        monkeypatch.setattr(model.graph.predictor, "run", lambda feeds: calls.append(feeds[0].shape) or run(feeds))
        for (logs, best), (wanted, likeliest) in zip(model.score(rows), whole, strict=True):
            assert np.allclose(logs, wanted, atol=1e-5) and list(best) == list(likeliest)
        assert len(calls) > 2 and max(rows * count for rows, count in calls) <= 14
        again = model.write([row[0] for row in rows], SETTINGS, model.decode, never)
        assert [each.tokens for each in again] == [each.tokens for each in text]


def test_texts_that_have_ended_are_no_longer_computed(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tiny) as model:
        contexts = [[1], [1, 262, 263]]
        one, other = model.write(contexts, SETTINGS, model.decode, never)
        ends = [token for token in one.tokens if token not in other.tokens]
        rows = []  # type: List[int]
        run = model.graph.predictor.run
        monkeypatch.setattr(model.graph.predictor, "run", lambda feeds: rows.append(len(feeds[0])) or run(feeds))
        first, second = model.write(contexts, dict(SETTINGS, stop_tokens=ends[:1]), model.decode, never)
        assert first.ending == "stop" and second.tokens == other.tokens
        assert rows[0] == 2 and rows[-1] == 1 and sum(rows) == 1 + len(first.tokens) + len(second.tokens)


def test_a_graph_alone_has_no_words_and_no_limit(tiny: Path) -> None:
    with opened(tiny / "model.onnx") as model:
        assert (model.longest, model.prefix, model.stop_tokens) == (None, None, ())
        assert len(model.score([([1], [262])])) == 1
        with pytest.raises(ModelError, match="name one in `encode_prompt`"):
            model.encode("ab", False)


def test_a_graph_that_is_no_decoder_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="not a language model's decoder: one takes `input_ids` and gives `logits`"):
        opened(Path(onnx_models.classifier(tmp_path, 0)["graph"]))


def test_an_input_that_nobody_knows_is_named(tiny: Path) -> None:
    graph = onnx.load(str(tiny / "model.onnx"))
    graph.graph.input.append(onnx.helper.make_tensor_value_info("speaker", onnx.TensorProto.INT64, ["batch"]))
    onnx.save(graph, str(tiny / "model.onnx"))
    with pytest.raises(ModelError, match="nobody knows what the decoder's input `speaker` gets"):
        opened(tiny)


def configured(folder: Path, **files: Any) -> Path:
    for name, content in files.items():
        (folder / (name + ".json")).write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def test_configurations_are_read_as_exporters_write_them(tmp_path: Path) -> None:
    facts = Facts(str(configured(tmp_path, config={"n_positions": 1024, "bos_token_id": 7, "eos_token_id": 7})))
    assert (facts.longest, facts.first, facts.ends) == (1024, 7, (7,))
    facts = Facts(str(configured(tmp_path, generation_config={"eos_token_id": [2, 5]})))
    assert (facts.first, facts.ends) == (7, (2, 5))
    model = {"context_length": 512, "bos_token_id": 1, "decoder": {"filename": "../x.onnx"}}
    facts = Facts(str(configured(tmp_path, genai_config={"model": model})))
    assert (facts.longest, facts.first, facts.ends) == (512, 1, (2, 5))


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", "nope", "[" * 100000, '"text"', "\udcff".encode("utf-8", "surrogateescape").decode("latin-1")],
)
def test_what_is_no_configuration_is_refused_in_words(tmp_path: Path, content: str) -> None:
    with pytest.raises(ModelError, match=r"config\.json"):
        Facts(str(configured(tmp_path, config=content)))


@pytest.mark.parametrize("value", [-1, 0, True, "512", 1.5, None, [], {}, 2**40])
def test_numbers_that_are_none_are_passed_over(tmp_path: Path, value: Any) -> None:
    facts = Facts(str(configured(tmp_path, config={"max_position_embeddings": value, "eos_token_id": [value, -3]})))
    assert facts.longest is None and facts.ends in ((), (0,))


def test_a_huge_configuration_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "config.json").open("wb") as file:
        file.truncate(1 << 25)
    with pytest.raises(ModelError, match="at most"):
        Facts(str(tmp_path))


def test_a_folder_says_which_graph_it_is(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"holds no \.onnx file"):
        graph_of(str(tmp_path))
    (tmp_path / "decoder.onnx").touch()
    assert graph_of(str(tmp_path)).endswith("decoder.onnx")
    (tmp_path / "onnx").mkdir()
    (tmp_path / "onnx" / "small.onnx").touch()
    with pytest.raises(ModelError, match=r"several graphs.*decoder\.onnx, onnx.small\.onnx"):
        graph_of(str(tmp_path))
    for name in ("small.onnx", "../decoder.onnx"):
        configured(tmp_path, genai_config={"model": {"decoder": {"filename": name}}})
        if name == "small.onnx":
            assert graph_of(str(tmp_path)).endswith("small.onnx")
        else:
            with pytest.raises(ModelError, match="several graphs"):
                graph_of(str(tmp_path))
    (tmp_path / "model.onnx").touch()
    assert graph_of(str(tmp_path)).endswith("model.onnx") and graph_of("any") == "any"
