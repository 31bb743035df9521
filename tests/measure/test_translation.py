"""Numbers of texts are sacrebleu's and rouge-score's, of all texts and of any of them."""

import logging
import random
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.interval import intervals
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.translation import MEASURES, Summarization, Translation

sacrebleu = pytest.importorskip("sacrebleu.metrics")
RULE = Translation()
NAMES = ("bleu", "chrf", "chrfpp", "ter", "rouge-1", "rouge-2", "rouge-l")
REAL = (
    "The quick brown fox, which jumps over the lazy dog, isn't here: it's 5.5 km away!",
    "Bundeskanzlerin Merkel sagte am Dienstag, daß die Lage „ernst“ sei (siehe Seite 12).",
    "猫在垫子上。  The cat sat on the mat -- really?",
    "Das ist ein Test . Das ist noch ein Test .",
    "¿Dónde está la biblioteca? Está allí, a la derecha; gracias.",
)


def changed(chance: random.Random, text: str) -> str:
    """Some words are missing, swapped, doubled or in capitals."""
    words = text.split(" ")
    for _ in range(chance.randint(0, 4)):
        at = chance.randrange(len(words))
        words[at] = chance.choice(("", words[at].upper(), f"{words[at]} {words[at]}", chance.choice(words), "x."))
    return " ".join(words)


def drawn(seed: int, references: int, samples: int = 25) -> tuple[list[str], list[list[str]]]:
    chance = random.Random(seed)
    truth = [" ".join(chance.sample(REAL, chance.randint(1, 3))) for _ in range(samples)]
    answers = [changed(chance, each) for each in truth]
    answers[0] = ""
    return answers, [[changed(chance, each) for _ in range(references)] for each in truth]


def scored(answers: list[str], references: list[list[str]], rule: Any = RULE, **options: Any) -> list[bytes]:
    pairs = zip(answers, references, strict=True)
    return [rule.score({}, {"text": each}, {"texts": texts}, options) for each, texts in pairs]


def corpus(metric: Any, answers: list[str], references: list[list[str]]) -> float:
    return float(metric.corpus_score(answers, [list(each) for each in zip(*references, strict=True)]).score)


def test_the_names_are_those_that_are_declared() -> None:
    assert set(NAMES) == set(MEASURES)


@pytest.mark.parametrize("references", [1, 3])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "zh", "none"])
def test_random_texts_give_the_numbers_of_sacrebleu(tokenize: str, lowercase: bool, references: int) -> None:
    answers, texts = drawn(references, references)
    scores = scored(answers, texts, tokenize=tokenize, lowercase=lowercase)
    found = RULE.numbers(scores, ["bleu", "chrf", "chrfpp"], None)
    common = {"lowercase": lowercase}
    expected = {
        "bleu": corpus(sacrebleu.BLEU(tokenize=tokenize, **common), answers, texts),
        "chrf": corpus(sacrebleu.CHRF(**common), answers, texts),
        "chrfpp": corpus(sacrebleu.CHRF(word_order=2, **common), answers, texts),
    }
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("effective_order", [False, True])
@pytest.mark.parametrize("smoothing", ["exp", "floor", "add-k", "none"])
@pytest.mark.parametrize("answer", ["the cat", "the", "a b c d e", "the cat sat on a mat", "sat the on cat mat", ""])
def test_single_sentences_are_smoothed_as_sacrebleu_does_it(answer: str, smoothing: str, effective_order: bool) -> None:
    metric = sacrebleu.BLEU(smooth_method=smoothing, effective_order=effective_order)
    logging.getLogger("sacrebleu").setLevel(logging.ERROR)
    due = "the cat sat on the mat"
    found = RULE.numbers(
        scored([answer], [[due]], smoothing=smoothing, effective_order=effective_order), ["bleu"], None
    )
    assert found["bleu"] == pytest.approx(metric.sentence_score(answer, [due]).score, abs=1e-12)


@pytest.mark.parametrize("references", [1, 2])
def test_ter_is_sacrebleus(references: int) -> None:
    answers, texts = drawn(4, references, samples=8)
    found = RULE.numbers(scored(answers, texts, ter=True), ["ter"], None)
    assert found == pytest.approx({"ter": corpus(sacrebleu.TER(), answers, texts)}, abs=1e-12)


def test_ter_is_only_computed_where_it_is_asked_for_and_of_short_texts() -> None:
    assert RULE.numbers(scored(["a"], [["a"]]), ["ter"], None) == {}
    with pytest.raises(ScoreError, match="up to 300 words"):
        scored(["a " * 301], [["a"]], ter=True)


def test_ter_without_any_word_of_a_reference_is_what_sacrebleu_says() -> None:
    assert RULE.numbers(scored(["a b"], [[""]], ter=True), ["ter"], None) == {"ter": 100.0}
    assert RULE.numbers(scored([""], [[""]], ter=True), ["ter"], None) == {"ter": 0.0}


@pytest.mark.parametrize("stemming", [False, True])
@pytest.mark.parametrize("references", [1, 3])
def test_random_texts_give_the_numbers_of_rouge_score(references: int, stemming: bool) -> None:
    rouge_score = pytest.importorskip("rouge_score.rouge_scorer")
    scorer = rouge_score.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=stemming)
    answers, texts = drawn(7, references)
    each = [scorer.score_multi(due, answer) for answer, due in zip(answers, texts, strict=True)]
    names = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
    expected = {name: float(np.mean([one[theirs].fmeasure for one in each])) for name, theirs in names.items()}
    found = Summarization().numbers(scored(answers, texts, Summarization(), stemming=stemming), list(names), None)
    assert found == pytest.approx(expected, abs=1e-12)


def test_weights_count_texts_as_often_as_they_say() -> None:
    scores = scored(*drawn(2, 2))
    weights = np.random.default_rng(1).integers(0, 3, len(scores)).astype(float)
    repeated = [each for each, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert RULE.numbers(scores, MEASURES, weights) == pytest.approx(RULE.numbers(repeated, MEASURES, None), abs=1e-12)


def test_deviations_are_those_of_leaving_out_each_text() -> None:
    scores = scored(*drawn(5, 1, samples=10), ter=True)
    left = [RULE.numbers(scores[:at] + scores[at + 1 :], MEASURES, None) for at in range(10)]
    for name, found in RULE.deviations(scores, MEASURES).items():
        values = np.array([each[name] for each in left])
        assert found == pytest.approx(np.sqrt(0.9 * ((values - values.mean()) ** 2).sum()), abs=1e-9), name
    assert set(intervals(RULE, scores, RULE.numbers(scores, MEASURES, None))) == set(MEASURES)


def test_the_details_hold_the_signature_with_which_others_can_repeat_it() -> None:
    found = RULE.details(scored(["a b"], [["a c", "a"]], tokenize="intl", lowercase=True))["signatures"]
    assert found["bleu"].startswith("nrefs:2|case:lc|eff:no|tok:intl|smooth:exp|version:")
    assert "nw:2" in found["chrfpp"] and "ter" not in found
    mixed = scored(["a", "b"], [["a"], ["b", "c"]])
    assert RULE.details(mixed)["signatures"]["bleu"].startswith("nrefs:var|")


def test_empty_texts_are_a_number_and_long_ones_are_refused() -> None:
    found = RULE.numbers(scored(["", ""], [[""], ["a b"]]), ["bleu", "chrf", "rouge-l"], None)
    assert found == {"bleu": 0.0, "chrf": 0.0, "rouge-l": 0.0}
    for answer, texts, reason in (
        ("a" * 1_000_000, ["a"], "1,000,000"),
        ("a", [], "no reference"),
        ("\ud83d", ["a"], "surr"),
    ):
        with pytest.raises(ScoreError, match=reason):
            scored([answer], [texts])


def test_texts_as_long_as_may_be_are_scored() -> None:
    text = "word and another " * 5_800
    found = RULE.numbers(scored([text], [[text]]), ["bleu", "rouge-l"], None)
    assert found == pytest.approx({"bleu": 100.0, "rouge-l": 1.0})
