"""Error rates are jiwer's; texts are compared as they are unless a normalization is written down."""

import os
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mlmodelscope.measure.facts import facts_of
from mlmodelscope.measure.rule import ScoreError
from mlmodelscope.measure.speech import SpeechRecognition

pytest.importorskip("rapidfuzz")
RULE = SpeechRecognition()
SHARED = Path(os.environ.get("MLMODELSCOPE_SHARED") or Path(__file__).parents[3] / "shared")
LIBRIVOX = SHARED / "tasks/asr/librivox"
WORDS = ["the", "cat", "sat", "on", "a", "mat", "mister", "john", "had", "then", "leisure", "to", "consider", "how"]
MOONSHINE = ["lowercase", {"expand": {"mr.": "mister"}}, {"keep": "a-z' "}, "squeeze_spaces"]


def score(answer: Any, *texts: str, **options: Any) -> bytes:
    return RULE.score({}, {"text": answer}, {"texts": list(texts)}, options)


def numbers(*scores: bytes) -> dict[str, float]:
    return RULE.numbers(scores, ("wer", "cer"), None)


def drawn(seed: int, samples: int = 30) -> list[tuple[str, str]]:
    chance = random.Random(seed)
    lines = [chance.choices(WORDS, k=chance.randint(1, 12)) for _ in range(samples)]
    told = [[chance.choice(WORDS) if chance.random() < 0.3 else word for word in line] for line in lines]
    told = [
        [word for word in line if chance.random() < 0.9] + chance.choices(WORDS, k=chance.randint(0, 2))
        for line in told
    ]
    return [(" ".join(due), " ".join(said)) for due, said in zip(lines, told, strict=True)]


@pytest.mark.parametrize("seed", range(6))
def test_random_utterances_give_the_numbers_of_jiwer(seed: int) -> None:
    jiwer = pytest.importorskip("jiwer")
    pairs = drawn(seed)
    scores = [score(said, due) for due, said in pairs]
    due, said = map(list, zip(*pairs, strict=True))
    expected = {"wer": jiwer.wer(due, said), "cer": jiwer.cer(due, said)}
    assert numbers(*scores) == pytest.approx(expected, abs=1e-12)
    told, words = RULE.details(scores)["word_edits"], jiwer.process_words(due, said)
    assert (told["substitutions"], told["deletions"], told["insertions"]) == (
        words.substitutions,
        words.deletions,
        words.insertions,
    )


def test_rates_are_pooled_or_the_mean_of_utterances() -> None:
    pairs = [("a b c d", "a b c d"), ("a", "b")]
    assert numbers(*(score(said, due) for due, said in pairs))["wer"] == pytest.approx(1 / 5)
    assert numbers(*(score(said, due, averaging="utterances") for due, said in pairs))["wer"] == pytest.approx(1 / 2)


def test_more_words_than_there_are_make_a_rate_above_one() -> None:
    assert numbers(score("a b c d", "x"))["wer"] == 4.0


def test_the_nearest_of_several_transcripts_counts() -> None:
    assert numbers(score("colour tv", "color television", "colour tv"))["wer"] == 0.0


def test_a_silent_recording_adds_what_is_inserted() -> None:
    assert numbers(score("uh huh", ""), score("a b", "a b"))["wer"] == 1.0
    assert numbers(score("uh", "")) == {} and numbers(score("", "")) == {}
    with pytest.raises(ScoreError, match="no words"):
        score("uh", "", averaging="utterances")


def test_weights_and_deviations_follow_from_sums() -> None:
    scores = [score(said, due) for due, said in drawn(3, 12)]
    weights = np.random.default_rng(1).integers(0, 3, 12).astype(float)
    repeated = [each for each, weight in zip(scores, weights, strict=True) for _ in range(int(weight))]
    assert RULE.numbers(scores, ["wer", "cer"], weights) == pytest.approx(numbers(*repeated), abs=1e-12)
    left = np.array([numbers(*scores[:at], *scores[at + 1 :])["wer"] for at in range(12)])
    expected = np.sqrt(11 / 12 * ((left - left.mean()) ** 2).sum())
    assert RULE.deviations(scores, ["wer"])["wer"] == pytest.approx(expected, abs=1e-12)


def test_the_score_says_what_became_of_every_word() -> None:
    facts = facts_of(score("the cat sat at mat", "the cat sat on the mat"))
    assert [tuple(each) for each in facts["difference"]] in (
        [
            ("equal", "the cat sat", "the cat sat"),
            ("replace", "on", "at"),
            ("delete", "the", ""),
            ("equal", "mat", "mat"),
        ],
        [
            ("equal", "the cat sat", "the cat sat"),
            ("delete", "on", ""),
            ("replace", "the", "at"),
            ("equal", "mat", "mat"),
        ],
    )
    assert facts["shown"]["wer"] == pytest.approx(2 / 6) and facts["quality"] == pytest.approx(4 / 6)


def test_normalization_is_done_to_both_sides_or_to_one() -> None:
    assert numbers(score("Mr. Dashwood", "mister dashwood"))["wer"] == 1.0
    assert numbers(score("Mr. Dashwood", "mister dashwood", normalization=MOONSHINE))["wer"] == 0.0
    assert numbers(score("Dashwood", "DASHWOOD", answer_normalization=["lowercase"]))["wer"] == 1.0
    assert numbers(score("dashwood", "DASHWOOD", reference_normalization=["lowercase"]))["wer"] == 0.0


@pytest.mark.parametrize(
    ("answer", "texts", "reason"),
    [
        ("a" * 1_000_000, ["a"], "1,000,000 characters"),
        ("\udc00", ["a"], "surrogate pair at character 0"),
        ("a", [], "no reference"),
        (7, ["a"], "not a text"),
    ],
)
def test_what_cannot_be_compared_fails_the_sample(answer: Any, texts: list[str], reason: str) -> None:
    with pytest.raises(ScoreError, match=reason):
        score(answer, *texts)


def test_a_text_that_normalization_blows_up_fails_the_sample() -> None:
    with pytest.raises(ScoreError, match="after normalization has"):
        score("a " * 2_000, "a", normalization=[{"expand": {"a": "b" * 200}}])


def test_texts_as_long_as_may_be_are_compared_in_little_memory() -> None:
    first, second = "word and another " * 5_800, "words of another " * 5_800
    found = numbers(score(first, second))
    assert 0 < found["wer"] < 1 and 0 < found["cer"] < 1


def lines(name: str) -> dict[str, str]:
    """Texts by the name of their recording."""
    found = {}
    for line in (LIBRIVOX / name).read_text().splitlines():
        text, _, about = line.rpartition("(")
        found[about.rstrip(")").split()[0]] = re.sub(r"</?s>", "", text).strip()
    return found


@pytest.mark.shared
@pytest.mark.skipif(not LIBRIVOX.is_dir(), reason="the development data folder is not here")
def test_a_recorded_output_of_pocketsphinx_has_its_known_error_rates() -> None:
    due, said = lines("transcription"), lines("test-lm.match")
    scores = [score(said[name], due[name]) for name in due]
    assert {name: round(value, 6) for name, value in numbers(*scores).items()} == {"wer": 0.28169, "cer": 0.181319}
    assert RULE.details(scores)["word_edits"]["words"] == 71
