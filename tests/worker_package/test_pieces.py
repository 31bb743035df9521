"""Tokens in words, for tokenizers of all kinds."""

from mlmodelscope_worker.pieces import Pieces
from mlmodelscope_worker.spelling import Room

WORDS = {0: b"", 1: b" Once", 2: b" upon", 3: b"\xe2", 4: b"\x82", 5: b"\xac", 6: b"!", 7: b"\xff"}


def decode(tokens: list[int]) -> str:
    """As SentencePiece and byte-level tokenizers do: no blank in front, bytes that make no character replaced."""
    return b"".join(WORDS[each] for each in tokens).decode("utf-8", "replace").lstrip(" ")


def name_of(token: int) -> str:
    return {0: "<s>", 3: "<0xE2>", 4: "<0x82>"}.get(token, "")


def test_a_token_is_what_it_adds_to_a_text() -> None:
    assert Pieces(decode, name_of).of([0, 1, 2, 6]) == ["<s>", " Once", " upon", "!"]


def test_a_character_of_several_tokens_stands_at_the_last_of_them() -> None:
    assert Pieces(decode, name_of).of([1, 3, 4, 5, 6]) == [" Once", "<0xE2>", "<0x82>", "€", "!"]


def test_bytes_that_make_no_character_are_told_as_such() -> None:
    assert Pieces(decode, name_of).of([1, 7, 6, 3]) == [" Once", "�", "!", "�"]


def test_tokens_without_any_text_have_their_names_alone() -> None:
    assert Pieces(decode, name_of).of([0, 0]) == ["<s>", "<s>"]


def test_each_token_is_read_once() -> None:
    calls: list[list[int]] = []
    pieces = Pieces(lambda tokens: calls.append(list(tokens)) or decode(tokens), name_of)
    pieces.of([1, 2] * 500)
    assert len(calls) < 10


def test_of_a_long_text_the_middle_is_left_out_and_of_a_context_the_first_tokens() -> None:
    room = Room(characters=10, tokens=3)
    assert room.text("0123456789abcdef") == {"text": "01234", "omitted": 6, "end": "bcdef"}
    assert room.text("more") == {"text": "", "omitted": 4, "end": ""}
    pieces = Pieces(decode, name_of)
    assert room.tokens([1, 2, 6, 6], pieces, last=True) == {
        "tokens": [2, 6, 6],
        "pieces": [" upon", "!", "!"],
        "more": 1,
    }
    assert room.tokens([1], pieces, last=False) == {"tokens": [], "pieces": [], "more": 1}
