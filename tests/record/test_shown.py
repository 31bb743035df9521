"""What a notebook shows of a record."""

from __future__ import annotations

import re

from mlmodelscope.record.number import MeasuredNumber
from mlmodelscope.record.shown import as_html

TOP1 = MeasuredNumber(value=0.8286, title="top-1", low=0.724, high=0.899)
PSNR = MeasuredNumber(value=31.445, title="PSNR", unit="dB")


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", page).split())


def test_numbers_have_their_unit_and_interval() -> None:
    page = as_html("net on pictures", {"top1": TOP1, "psnr": PSNR}, {"samples": "70"}).replace("\xa0", " ")
    said = words(page)
    assert said == "net on pictures top-1 82.9 % 95 % interval: 72.4 – 89.9 % PSNR 31.45 dB samples 70"


def test_names_of_strangers_are_text() -> None:
    page = as_html("<script>alert(1)</script>", {"<b>": TOP1.model_copy(update={"title": ""})}, {"a": "<img>"}, ["<i>"])
    assert re.findall(r"<(?!/?(?:p|strong|table|tr|th|td|ul|li)\b)[^>]*>", page) == []


def test_endless_notes_are_cut() -> None:
    page = as_html("net", {}, {}, ["long " * 1000] * 100)
    assert page.count("<li>") == 5 and len(page) < 3000
