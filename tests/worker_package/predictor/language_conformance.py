"""What every engine that runs language models must do. A test file subclasses `LanguageConformance` and says how a
model is written; see test_ngram.py's neighbors for how little that takes. It is written for Python 3.6."""

from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

import numpy as np
import pytest

from mlmodelscope_worker.language_session import open_language_model
from mlmodelscope_worker.messages import PredictorTask
from mlmodelscope_worker.predictor import PREDICTORS, ModelError
from mlmodelscope_worker.predictor.language_model import LanguageModel
from mlmodelscope_worker.remembered import each_alone

SETTINGS = {
    "longest": 12,
    "stop": [],
    "stop_tokens": [],
    "temperature": 0.0,
    "top_k": None,
    "top_p": None,
    "seed": 0,
    "repeats": 1,
}  # type: Dict[str, Any]
Row = Tuple[List[int], List[int]]


def never(text: str) -> bool:
    return False


class LanguageConformance:
    """Tests for the predictor called `name`, with the tiny Llamas of `llamas.py`."""

    name = ""
    options = {}  # type: Dict[str, Any]
    size = 275
    longest = 64
    tolerance = 2e-3
    """How far logarithms may be apart when rows are computed together or alone."""

    def save(self, folder: Path, seed: int = 0, spoiled: bool = False) -> Dict[str, str]:
        raise NotImplementedError

    def open(self, files: Dict[str, str], **options: Any) -> Any:
        given = PREDICTORS[self.name].resolve(dict(self.options, **options))
        model = open_language_model(PredictorTask(self.name, files, given))
        assert isinstance(model, LanguageModel)
        return model

    @pytest.fixture
    def model(self, tmp_path: Path) -> Any:
        with self.open(self.save(tmp_path)) as opened:
            yield opened

    def rows(self, count: int = 7) -> List[Row]:
        """Of all lengths; some share a context."""
        random = np.random.RandomState(5)
        found = []  # type: List[Row]
        for place in range(count):
            context = [1] + [int(each) for each in random.randint(3, self.size, 3 + place)]
            context = found[-1][0] if place % 3 == 1 else context
            found.append((context, [int(each) for each in random.randint(3, self.size, 1 + place % 4)]))
        return found

    def write(self, model: Any, contexts: Sequence[List[int]], is_over: Any = never, **changes: Any) -> List[Any]:
        return list(model.write(list(contexts), dict(SETTINGS, **changes), self.decode(model), is_over))

    def decode(self, model: Any) -> Any:
        return model.decode

    # Scoring

    @pytest.mark.parametrize("batch", [1, 2, 7])
    def test_a_row_is_as_likely_in_a_batch_of_any_size(self, model: Any, batch: int) -> None:
        rows = self.rows()
        alone = [model.score([row])[0] for row in rows]
        found = [each for start in range(0, 7, batch) for each in model.score(rows[start : start + batch])]
        for (logs, best), (wanted, likeliest), row in zip(found, alone, rows):
            assert len(logs) == len(best) == len(row[1])
            assert np.allclose(logs, wanted, atol=self.tolerance) and list(best) == list(likeliest)

    def test_likelihoods_of_all_tokens_make_up_one(self, model: Any) -> None:
        rows = [([1, 262], [token]) for token in range(self.size)]
        found = model.score(rows)
        assert abs(sum(float(np.exp(logs[0])) for logs, _ in found) - 1) < 1e-3
        assert sum(bool(best[0]) for _, best in found) == 1

    def test_a_row_in_one_is_its_parts(self, model: Any) -> None:
        ((logs, _),) = model.score([([1, 262], [263, 264, 265])])
        parts = model.score([([1, 262], [263]), ([1, 262, 263], [264]), ([1, 262, 263, 264], [265])])
        assert np.allclose(logs, [each[0][0] for each in parts], atol=self.tolerance)

    def test_the_likeliest_tokens_are_those_that_are_written(self, model: Any) -> None:
        (one,) = self.write(model, [[1]], longest=6)
        ((_, best),) = model.score([([1], one.tokens)])
        assert best.all()

    def test_as_many_tokens_fit_as_the_model_says(self, model: Any) -> None:
        longest = model.longest
        assert longest == self.longest
        ((logs, _),) = model.score([([1] + [262] * (longest - 3), [263, 264, 265])])
        assert np.isfinite(logs).all()

    @pytest.mark.parametrize("token", [275, -1, 10**6])
    def test_a_token_that_is_none_is_refused(self, model: Any, token: int) -> None:
        for row in (([1, token], [262]), ([1, 262], [token])):
            with pytest.raises(ModelError, match="the token .* is none of the model's 275"):
                model.score([row])
        with pytest.raises(ModelError, match="is none of the model's"):
            self.write(model, [[1, token]])
        assert len(model.score([([1], [262])])) == 1  # and the next one is answered

    def test_a_row_that_is_too_long_costs_no_other(self, model: Any) -> None:
        rows = [([1], [262]), ([1] + [262] * 200, [263]), ([1], [264])]
        found = each_alone(model.score, rows)
        assert isinstance(found[1], ModelError) and "the model takes 64" in str(found[1])
        assert np.isfinite(found[0][0]).all() and np.isfinite(found[2][0]).all()

    def test_a_row_without_context_is_refused(self, model: Any) -> None:
        with pytest.raises(ModelError):
            model.score([([], [262])])
        with pytest.raises(ModelError):
            self.write(model, [[]])

    def test_numbers_that_are_none_are_no_answer(self, tmp_path: Path) -> None:
        with self.open(self.save(tmp_path, spoiled=True)) as model:
            ((logs, _),) = model.score([([1, 262], [263])])
            assert not np.isfinite(logs).all()  # the reader refuses it, with its row
            with pytest.raises(ModelError, match="not-a-number"):
                self.write(model, [[1]])

    def test_another_model_answers_otherwise(self, model: Any, tmp_path: Path) -> None:
        (tmp_path / "other").mkdir()
        with self.open(self.save(tmp_path / "other", seed=1)) as other:
            one, two = model.score([([1], [262])]), other.score([([1], [262])])
        assert abs(float(one[0][0][0] - two[0][0][0])) > 1e-3

    # Writing

    def test_greedy_texts_are_the_same_again_and_side_by_side(self, model: Any) -> None:
        contexts = [row[0] for row in self.rows()]
        found = self.write(model, contexts)
        assert [each.tokens for each in found] == [each.tokens for each in self.write(model, contexts)]
        alone = [self.write(model, [each])[0] for each in contexts]
        assert [each.tokens for each in found] == [each.tokens for each in alone]
        assert {each.ending for each in found} == {"length"} and {len(each.tokens) for each in found} == {12}
        assert all(len(each.moments) == 12 and list(each.moments) == sorted(each.moments) for each in found)

    def test_a_stop_token_ends_a_text_and_is_no_part_of_it(self, model: Any) -> None:
        (whole,) = self.write(model, [[1]])
        end = whole.tokens[4]
        (one,) = self.write(model, [[1]], stop_tokens=[end])
        assert one.ending == "stop" and one.tokens == whole.tokens[: whole.tokens.index(end)]

    def test_a_text_ends_where_it_is_over(self, model: Any) -> None:
        (whole,) = self.write(model, [[1]])
        decode = self.decode(model)
        wanted = decode(whole.tokens[:5])
        (one,) = self.write(model, [[1]], is_over=lambda text: text.startswith(wanted), stop=["unused"])
        assert one.ending == "stop" and decode(one.tokens).startswith(wanted)
        assert len(one.tokens) <= 5

    def test_a_seed_is_a_text(self, model: Any) -> None:
        def drawn(seed: int, *contexts: List[int]) -> List[List[int]]:
            found = self.write(model, contexts, temperature=1.5, seed=seed)
            return [each.tokens for each in found]

        one, other = [1], [1, 262]
        assert drawn(3, one) == drawn(3, one) != drawn(40, one)
        assert drawn(3, other, one, one) == drawn(3, other) + 2 * drawn(3, one), "no batch changes it"

    def test_few_candidates_are_the_greedy_text(self, model: Any) -> None:
        greedy = [each.tokens for each in self.write(model, [[1]])]
        assert [each.tokens for each in self.write(model, [[1]], temperature=1.0, top_k=1)] == greedy
        assert [each.tokens for each in self.write(model, [[1]], temperature=1.0, top_p=1e-9)] == greedy

    # The model's own words

    def test_its_own_words_come_back(self, model: Any) -> None:
        tokens = model.encode("ab cd A.", False)
        assert tokens and model.decode(tokens) == "ab cd A."
        assert model.decode(model.encode("héé ab", False)) == "héé ab"
        assert model.prefix == 1 and 2 in model.stop_tokens

    def test_a_damaged_file_is_refused_in_words(self, tmp_path: Path) -> None:
        files = self.save(tmp_path)
        place = Path(files["graph"])
        weights = [each for each in sorted(place.glob("*")) if each.suffix in (".safetensors", ".onnx")]
        for path in [place] if place.is_file() else weights:
            content = path.read_bytes()
            path.write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError):
            self.open(files)
