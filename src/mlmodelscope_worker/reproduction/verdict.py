"""How a check ends."""


class Failed(Exception):
    """The component does not do what it must; says what was seen."""

    def __init__(self, words, numbers=None):
        Exception.__init__(self, words)
        self.words = words
        self.numbers = numbers or {}


class Skipped(Exception):
    """There is nothing to check: a function is missing, or a part of the manifest."""


class Undecided(Exception):
    """It was tried, and nothing follows from it."""


class CodeError(Failed):
    """The module's own code raised."""
