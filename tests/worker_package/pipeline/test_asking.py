"""What a language model is asked: rows of tokens, cut and parted as the manifest says."""

from typing import Any

import pytest

from mlmodelscope_worker.parameters import ParameterError
from mlmodelscope_worker.pipeline import STEPS, Pipeline
from mlmodelscope_worker.pipeline.asking import count_words, rolling, strided
from mlmodelscope_worker.pipeline.document import Document
from mlmodelscope_worker.pipeline.value import SampleError
from worker_package.tasks import steps

PLAIN = {"question": "question", "choices": ["choices"], "answer": "answer"}


class Letters:
    """Each character is a token; 1 stands before everything, where special tokens are asked for."""

    prefix, longest = 1, 12

    def encode(self, text: str, special: bool) -> list[int]:
        return [1] * special + [ord(each) for each in text]

    def decode(self, tokens: list[int]) -> str:
        return "".join(map(chr, tokens))


class Merging(Letters):
    """A blank and the letter behind it are one token."""

    def encode(self, text: str, special: bool) -> list[int]:
        found: list[int] = []
        for each in text:
            if found and found[-1] == ord(" "):
                found[-1] = 1000 + ord(each)
            else:
                found.append(ord(each))
        return [1] * special + found


def asked(call: str, settings: Any = None, encode: Any = None, engine: Any = None, **fields: Any) -> Any:
    document = Document({"question": "Q:", "choices": ["ab", "c"], "answer": 0, **fields})
    written = [("prompt", PLAIN), ("encode_prompt", encode), (call, settings)]
    return Pipeline(steps(STEPS, written))(document).prepared(engine or Letters())


def texts(question: Any) -> list[tuple[str, str]]:
    return [(Letters().decode(context), Letters().decode(more)) for context, more in question.tokens]


def test_choose_asks_for_each_choice_behind_the_question() -> None:
    assert texts(asked("choose")) == [("Q:", " ab"), ("Q:", " c")]


def test_choose_asks_for_each_choice_alone_where_that_is_compared() -> None:
    found = asked("choose", {"unconditional": True, "unconditional_context": "A:"})
    assert texts(found) == [("Q:", " ab"), ("Q:", " c"), ("A:", " ab"), ("A:", " c")]


def test_encode_prompt_parts_context_and_continuation_together_or_apart() -> None:
    """Cut together, the blank at the border belongs to the letter behind it."""
    together = asked("choose", engine=Merging()).tokens[0]
    assert together == ([ord("Q"), ord(":")], [1000 + ord("a"), ord("b")])
    blank = asked("choose", None, {"spaces": "context"}, Merging(), question="Q: ").tokens[1]
    apart = asked("choose", None, {"spaces": "context", "join": "apart"}, Merging(), question="Q: ").tokens[1]
    assert blank != apart, "a second blank is swallowed by the first where both are read at once"


def test_blanks_that_end_the_context_go_to_the_continuation() -> None:
    assert texts(asked("choose", question="Q: \n"))[1] == ("Q:", " \n c")
    assert texts(asked("choose", None, {"spaces": "context"}, question="Q: "))[1] == ("Q: ", " c")


def test_special_tokens_stand_in_front_once_or_always() -> None:
    assert asked("choose", None, {"special_tokens": "always", "library": None}).tokens[1][0][:2] == [1, ord("Q")]
    twice = asked("choose", None, {"special_tokens": "always"}, question="\x01Q")
    once = asked("choose", None, {"special_tokens": "once"}, question="\x01Q")
    assert twice.tokens[1][0][:2] == [1, 1] and once.tokens[1][0][:2] == [1, ord("Q")]
    assert asked("choose", None, {"start": 7}).tokens[1][0][0] == 7


def test_what_has_no_context_begins_behind_a_token_that_stands_for_it() -> None:
    assert asked("choose", question="").tokens[1] == ([1], [ord(" "), ord("c")])
    assert asked("choose", None, {"empty": 5}, question="").tokens[1][0] == [5]

    class Bare(Letters):
        prefix = None

    with pytest.raises(SampleError, match="which token stands for that"):
        asked("choose", engine=Bare(), question="")


def test_a_context_is_cut_where_it_does_not_fit_and_a_continuation_never() -> None:
    """A model sees all tokens but the very last one."""
    long = "0123456789abcdef"
    assert texts(asked("choose", question=long))[1] == ("56789abcdef", " c"), "as many as the model takes"
    left = asked("choose", None, {"longest": 6}, question=long)
    assert texts(left)[1] == ("bcdef", " c")
    assert texts(asked("choose", None, {"longest": 6, "cut": "right"}, question=long))[1] == ("01234", " c")
    with pytest.raises(SampleError, match="18 tokens, and 6 fit"):
        asked("choose", None, {"longest": 6, "cut": "refuse"}, question=long, choices=["c", "d"])
    with pytest.raises(SampleError, match="and 2 fit"):
        asked("choose", None, {"longest": 2}, question=long)


def test_read_scores_every_token_once_in_windows_that_roll() -> None:
    tokens = list(range(100, 125))
    found = rolling(tokens, 1, 10, 1)
    assert [each for _, more in found for each in more] == tokens
    assert found[0] == ([1], tokens[:10]) and found[1][0] == [tokens[9]]
    wide = rolling(tokens, 1, 10, 4)
    assert [each for _, more in wide for each in more] == tokens
    assert all(len(context) + len(more) - 1 <= 10 for context, more in wide)
    assert len(wide) > len(found)


def test_read_skips_the_first_token_of_windows_that_stride() -> None:
    tokens = list(range(100, 125))
    found = strided(tokens, 10, 0)
    assert [(len(context), len(more)) for context, more in found] == [(1, 9), (1, 9), (1, 4)]
    overlapped = strided(tokens, 10, 5)
    assert [each for _, more in overlapped for each in more] == tokens[1:]
    assert strided(tokens[:1], 10, 0) == []


def test_read_takes_as_many_windows_as_it_is_told() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    found = asked("read", {"window": 5, "first": "skip", "windows": 2}, question="", choices=[text])
    assert texts(found) == [("a", "bcde"), ("f", "ghij")]
    whole = asked("read", None, question="", choices=["abc"])
    assert whole.tokens == [([1], [97, 98, 99])]
    with pytest.raises(SampleError, match="windows of 5 tokens cannot have 5 in common"):
        asked("read", {"window": 5, "overlap": 5}, question="", choices=["abc"])
    with pytest.raises(SampleError, match="without tokens"):
        asked("read", question="", choices=[""])


def test_read_counts_the_text_that_is_scored_and_no_other() -> None:
    text = "abcdefghijklmnopqrstuvwxyz"
    assert asked("read", {"window": 5, "first": "skip", "windows": 2}, question="", choices=[text]).text == "bcdeghij"
    assert asked("read", {"window": 5}, question="", choices=[text]).text == text


def test_read_does_not_score_what_stands_for_the_beginning() -> None:
    found = asked("read", None, {"special_tokens": "always"}, question="", choices=["abc"])
    assert found.tokens == [([1], [97, 98, 99])]


def test_read_with_a_context_scores_what_comes_behind_it() -> None:
    assert texts(asked("read", question="Q", choices=["abc"])) == [("Q", " abc")]


def test_write_leaves_room_for_the_answer() -> None:
    assert texts(asked("write", {"longest": 8}, question="0123456789")) == [("6789", "")]
    assert texts(asked("write", {"longest": 8}, {"cut": "right"}, question="0123456789")) == [("0123", "")]
    assert asked("write", {"longest": 8}, question="").tokens == [([1], [])]
    with pytest.raises(SampleError, match="12 tokens may be written, and the model takes 12"):
        asked("write", {"longest": 12})
    with pytest.raises(SampleError, match="10 tokens, and 4 fit"):
        asked("write", {"longest": 8}, {"cut": "refuse"}, question="0123456789")


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"library": "tokenizers"}, "the file with the vocabulary is missing"),
        ({"library": "tiktoken", "file": "x", "special_tokens": "always"}, "does not say which special tokens"),
        ({"library": "engine"}, "not one of its values"),
        ({"longest": 0}, "below 1"),
    ],
)
def test_what_cannot_make_tokens_is_refused_at_once(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ParameterError, match=reason):
        STEPS["encode_prompt"].resolve(given)


@pytest.mark.parametrize(("text", "due"), [("", 1), ("a b", 2), (" a\n\nb ", 4), ("a", 1)])
def test_words_are_what_stands_between_blanks(text: str, due: int) -> None:
    assert count_words(text) == due
