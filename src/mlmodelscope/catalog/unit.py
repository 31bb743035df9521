"""Whether published numbers are percentages or fractions: told for each row, with the reason.

A table mixes them: `AP: 0.722` stands in one file, `box AP: 37.4` in the next. The numbers of the same metric in the
same file are a row's siblings; where these cannot decide, the metric's own range does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from mlmodelscope.catalog.entry import Unit
from mlmodelscope.catalog.words import Word

_NUMBER = re.compile(r"[+-]?\d{1,9}(\.\d{1,12})?")
_FEW = 3


@dataclass(frozen=True)
class Told:
    unit: Unit
    because: str


def number_text(value: object) -> str | None:
    """The digits of a number as a claim has them, or None: no exponent, infinity or 'about'."""
    text = str(getattr(value, "text", value)).strip().replace("_", "")
    text = text.removesuffix("%").strip()
    if text.startswith("."):
        text = f"0{text}"
    if text.endswith("."):
        text = text[:-1]
    return text if not isinstance(value, bool) and _NUMBER.fullmatch(text) else None


def tell_unit(text: str, siblings: Sequence[str], metric: Word, has_sign: bool = False) -> Told:
    """Percent or share. `siblings` are all numbers of this metric in the file, this one included."""
    if has_sign:
        return Told("percent", "it has a percent sign")
    if metric.unit == "dB":
        return Told("dB", f"{metric.name} is published in dB")
    if metric.unit == "number":
        return Told("number", f"{metric.name} is a number, not a share")
    number = abs(float(text))
    others = [abs(float(each)) for each in siblings]
    above = [each for each in others if each > 1]
    if number > 1:
        return Told("percent", "it is above 1" + ("" if number <= 100 else ", and even above 100"))
    if not above:
        few = ", and there are few" if len(others) < _FEW else ""
        return Told("share", f"no number of this metric in the file is above 1{few}")
    usual = median(above)
    if number * 100 <= 100 and number < usual / 10:
        return Told("share", f"the others of this metric are percentages of about {usual:g}, which {text} cannot be")
    return Told("percent", f"the others of this metric in the file are percentages of about {usual:g}")
