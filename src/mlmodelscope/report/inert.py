"""Other people's words in a CSV file, which a spreadsheet opens."""

from __future__ import annotations

_FORMULA = (
    "=+-@\t\r\n\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}\N{FULLWIDTH HYPHEN-MINUS}\N{FULLWIDTH COMMERCIAL AT}"
)


def inert(text: str | None) -> str | None:
    """A spreadsheet must not take somebody's file name for a formula; JSON has the text as it is."""
    return f"'{text}" if text and text[0] in _FORMULA else text
