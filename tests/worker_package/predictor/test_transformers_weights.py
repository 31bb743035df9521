"""Weights as somebody else has them: another rotary layout, fewer bits."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from mlmodelscope_worker.predictor import ModelError  # noqa: E402
from mlmodelscope_worker.predictor.transformers_weights import rearrange_rotary, round_weights  # noqa: E402
from worker_package.predictor import llamas  # noqa: E402

ROWS = [([1, 270, 268], [269, 274]), ([1], [265, 266, 260])]


class Heads(torch.nn.Module):  # type: ignore[misc,name-defined]
    """Two heads of eight rows for queries, one for keys."""

    def __init__(self, **config: Any) -> None:
        super().__init__()
        self.config = SimpleNamespace(num_attention_heads=2, num_key_value_heads=1, **config)
        self.q_proj, self.k_proj = torch.nn.Linear(3, 16), torch.nn.Linear(3, 8)
        for each in (self.q_proj, self.k_proj):
            each.weight.data = torch.arange(each.out_features)[:, None].repeat(1, 3).float()
            each.bias.data = torch.arange(each.out_features).float()


def order_of(layer: Any) -> list[int]:
    assert torch.equal(layer.weight[:, 0], layer.bias)
    return [int(each) for each in layer.bias]


def test_neighbors_become_halves_in_each_head_with_their_biases() -> None:
    model = Heads()
    rearrange_rotary(torch, model, "pairs_to_halves")
    assert order_of(model.k_proj) == [0, 2, 4, 6, 1, 3, 5, 7]
    assert order_of(model.q_proj) == [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15]


def test_one_layout_undoes_the_other() -> None:
    model = Heads()
    rearrange_rotary(torch, model, "halves_to_pairs")
    assert order_of(model.k_proj) == [0, 4, 1, 5, 2, 6, 3, 7]
    rearrange_rotary(torch, model, "pairs_to_halves")
    assert order_of(model.k_proj) == list(range(8)) and order_of(model.q_proj) == list(range(16))


def test_rows_that_are_not_turned_stay_where_they_are() -> None:
    model = Heads(partial_rotary_factor=0.5)
    rearrange_rotary(torch, model, "pairs_to_halves")
    assert order_of(model.k_proj) == [0, 2, 1, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("config", [{"partial_rotary_factor": 0.2}, {"partial_rotary_factor": 0.4}])
def test_rows_that_have_no_halves_are_refused_in_words(config: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="cannot part 16 rows into 2 heads"):
        rearrange_rotary(torch, Heads(**config), "pairs_to_halves")


def test_a_matrix_for_all_three_is_refused_in_words() -> None:
    fused = torch.nn.Sequential(torch.nn.Linear(3, 24))
    fused.config = SimpleNamespace(num_attention_heads=2)
    with pytest.raises(ModelError, match="no rows of queries and keys by themselves in Sequential"):
        rearrange_rotary(torch, fused, "pairs_to_halves")


def rounded(weights: np.ndarray, kind: str) -> np.ndarray:
    layer = torch.nn.Linear(weights.shape[1], weights.shape[0])
    layer.weight.data, before = torch.from_numpy(weights.copy()), layer.bias.detach().clone()
    round_weights(torch, layer, kind)
    assert torch.equal(layer.bias, before)  # what is no matrix stays as it is
    return np.asarray(layer.weight.detach().numpy())


def some(rows: int, columns: int) -> np.ndarray:
    return np.asarray(np.random.RandomState(3).randn(rows, columns), "<f4")


@pytest.mark.parametrize("kind", ["q8_0", "q4_0"])
def test_blocks_are_rounded_as_in_a_file_of_gguf(kind: str) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf packs the blocks")
    weights, number = some(5, 96), gguf.GGMLQuantizationType[kind.upper()]
    weights[2] = 0
    wanted = gguf.quants.dequantize(gguf.quants.quantize(weights, number), number)
    assert np.array_equal(rounded(weights, kind), wanted)


def test_eight_bits_are_closer_than_four() -> None:
    weights = some(8, 64)
    far = {kind: np.abs(rounded(weights, kind) - weights).max() for kind in ("q8_0", "q4_0", "float16", "bfloat16")}
    assert 0 < far["float16"] < far["bfloat16"] < far["q4_0"] and far["float16"] < far["q8_0"] < far["q4_0"]


def test_rows_without_whole_blocks_keep_sixteen_bits() -> None:
    weights = some(4, 40)
    assert np.array_equal(rounded(weights, "q4_0"), weights.astype("<f2").astype("<f4"))


def test_a_matrix_that_two_layers_share_is_rounded_once() -> None:
    first, last = torch.nn.Embedding(4, 32), torch.nn.Linear(32, 4, bias=False)
    first.weight.data = torch.from_numpy(some(4, 32))
    last.weight.data = first.weight.data  # two parameters, one storage
    once = rounded(some(4, 32), "q4_0")
    round_weights(torch, torch.nn.ModuleList([first, last]), "q4_0")
    assert np.array_equal(last.weight.detach().numpy(), once)


class TestOpened:
    """What the predictor's options do to a whole model."""

    @pytest.fixture(autouse=True)
    def _needs(self) -> None:
        pytest.importorskip("transformers", reason="transformers is not installed")
        pytest.importorskip("safetensors", reason="safetensors writes the models")

    def scores(self, folder: Path, **options: Any) -> list[float]:
        from mlmodelscope_worker.messages import PredictorTask
        from mlmodelscope_worker.predictor import PREDICTORS
        from mlmodelscope_worker.session import open_predictor

        given = PREDICTORS["transformers"].resolve(options)
        with open_predictor(PredictorTask("transformers", {"graph": str(folder)}, given)) as model:
            return [float(each) for logs, _ in model.score(ROWS) for each in logs]

    def test_a_badly_converted_folder_is_put_right(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        good = llamas.write_folder(llamas.random_llama(), tmp_path / "good")
        monkeypatch.setattr(llamas, "halves", lambda matrix, heads: matrix)
        bad = llamas.write_folder(llamas.random_llama(), tmp_path / "bad")
        wanted = self.scores(good)
        assert self.scores(bad) != pytest.approx(wanted, abs=1e-3)
        assert self.scores(bad, rotary="pairs_to_halves") == pytest.approx(wanted, abs=1e-6)

    def test_fewer_bits_say_something_else(self, tmp_path: Path) -> None:
        folder = llamas.write_folder(llamas.random_llama(), tmp_path / "tiny")
        wanted = np.array(self.scores(folder))
        far = [np.abs(np.array(self.scores(folder, rounding=each)) - wanted).max() for each in ("q8_0", "q4_0")]
        assert 0 < far[0] < far[1]
