"""A text that somebody reads while it is written: pieces that add up, and an end at once."""

from mlmodelscope_worker.conversing import Told


def told(texts: list[str], stops: tuple[str, ...] = (), stop_after: int = 1000) -> tuple[list[str], list[bool]]:
    said: list[str] = []
    listener = Told(said.append, stops, lambda: len(said) >= stop_after)
    return said, [listener(each) for each in texts]


def test_only_what_is_new_is_told() -> None:
    said, over = told(["On", "Once", "Once", "Once upon"])
    assert said == ["On", "ce", " upon"] and not any(over)


def test_half_a_character_waits_for_its_other_half() -> None:
    said, _ = told(["a", "a\ufffd", "a\ufffd\ufffd", "aé"])
    assert said == ["a", "é"]


def test_the_beginning_of_a_stop_is_held_back_and_told_if_it_was_none() -> None:
    said, over = told(["a", "a#", "a##", "a## b"], ("###",))
    assert said == ["a", "## b"] and not any(over)
    said, over = told(["a#", "a##", "a###x"], ("###", ""))
    assert said == ["a"] and over == [False, False, True]


def test_it_is_over_as_soon_as_nobody_wants_more() -> None:
    said, over = told(["a", "ab", "abc"], stop_after=2)
    assert over == [False, True, True] and "".join(said) == "abc"
