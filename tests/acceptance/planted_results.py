"""What was found of planted faults, in a file and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median

from acceptance.planted import Bed, Outcome

_HEAD = """# Planted faults

Does `replicate` name what is wrong with a manifest? This page is made by

    make acceptance

(`python tools/acceptance.py --write docs/acceptance.md`; `--model squeezenet`, `--fault BGR` for some of it). A right
manifest is evaluated, and its number is the claim. Then the manifest is made wrong, as a person would: text of it is
exchanged for other text (`tests/acceptance/faults.yml`), and nothing asks the registry of pitfalls how. In the end
`replicate` gets the wrong manifest and the claim, and must name the kind of mistake. Beds are real models on real
pictures, the same networks behind other inputs (quantized, Caffe's), and drawings with a small network that is trained
on the spot, which need nothing from anywhere.
"""
_COLUMNS = """
*Place* is that of the true kind among the kinds that are named, in the order of the answer. Kinds whose variants come
to the claimed number exactly, or that answer the same in every sample, cannot be told apart by that number: `replicate`
says so, and they share the first place (*1 of n*). An edit that explains most of a gap and a second one that may
explain the rest are one answer. *Said* is how sure `replicate` is of it: it *explains* the gap, or *most* of it, the
claim is only *compatible* with it, or *nothing* comes to the claim and it is the nearest. *Own values* marks faults
that only a value undoes which no list of usual ones has. A fault that leaves the number at or above the claim has no
effect that could be explained. Where one half of a pair leaves the claimed digits as they are by itself, the other
half is what is to be named.
"""


def read(path: Path) -> list[Outcome]:
    if not path.is_file():
        return []
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for each in found:
        each["pitfalls"] = tuple(each["pitfalls"])
        each["named"] = tuple((kind, words) for kind, words in each["named"])
    return [Outcome(**each) for each in found]


def line(each: Outcome) -> str:
    kinds = " + ".join(each.pitfalls)
    if each.is_about_claim:
        said = f"{each.claim} claimed, {each.measured:.2f} measured: {each.verdict}"
        return f"{each.bed}: {each.fault}: {said}, {_named(each)}, {each.evaluations:.1f} evaluations"
    if not each.counts:
        return f"{each.bed}: {each.fault} ({kinds}): {each.claim} claimed, {each.measured:.2f} measured: no effect"
    said = f"{each.claim} claimed, {each.measured:.2f} measured: {place(each)}"
    cost = f"{each.evaluations:.1f} evaluations, {each.cpu_s:.0f} s CPU"
    text = f"{each.bed}: {each.fault} ({kinds}): {said}, {cost}"
    if each.rank != 1:
        text += "".join(f"\n      {kind}: {words}" for kind, words in each.named)
    return text


def _named(each: Outcome) -> str:
    """What was named though there is nothing to name."""
    if each.said not in ("explains", "most"):
        return "nothing is named as the cause"
    return f"{each.named[0][0]} ({each.named[0][1]}) is named as the cause"


def place(each: Outcome) -> str:
    if each.rank is None:
        return "not named"
    return f"1 of {each.tied}" if each.rank == 1 and each.tied > 1 else str(each.rank)


def summary(outcomes: Sequence[Outcome]) -> Iterator[str]:
    found = [each for each in outcomes if not each.is_about_claim]
    claims = [each for each in outcomes if each.is_about_claim]
    if claims:
        named = sum(each.said in ("explains", "most") for each in claims)
        yield f"{len(claims)} right manifests with a claim that is too high: a cause is named in {named} of them"
    counted = [each for each in found if each.counts]
    if not counted:
        yield "no fault had an effect"
        return
    pairs = [each for each in counted if len(each.pitfalls) > 1]
    yield f"{len(found)} faults, of which {len(counted)} have an effect; {len(pairs)} of these are pairs"
    for name, some in (("all", counted), ("single", [each for each in counted if each not in pairs]), ("pairs", pairs)):
        if some:
            yield f"{name}: {_shares(some)}"
    costs = [each.evaluations for each in counted]
    yield f"a search takes {median(costs):.1f} evaluations (median; at the most {max(costs):.1f})"
    small = [each.evaluations for each in counted if each.bed.endswith("-small")]
    if small:
        yield f"with 250 samples it takes {max(small):.1f} at the most"
    yield f"CPU: {sum(each.cpu_s for each in found) / 60:.0f} minutes"


def _shares(some: Sequence[Outcome]) -> str:
    first = [each for each in some if each.rank == 1]
    alone = [each for each in first if each.tied <= 1]
    near = [each for each in some if each.rank is not None and each.rank <= 3]
    return (
        f"the true kind is first in {len(first)} of {len(some)} ({100 * len(first) / len(some):.1f} %; "
        f"alone in {len(alone)}), among the first three in {len(near)} ({100 * len(near) / len(some):.1f} %)"
    )


def page(beds: Mapping[str, Bed], found: Sequence[Outcome], left: int = 0, made: str = "") -> str:
    lines = [_HEAD, *([made, ""] if made else []), *(f"- {each}" for each in summary(found))]
    if left:
        lines.append(f"- {left} more faults are planted, which this page's run did not come to")
    lines.append(_COLUMNS)
    claims = [each for each in found if each.is_about_claim]
    if claims:
        lines += ["## Right manifests, claims that are too high", "", *_claims(claims), ""]
    for name, bed in beds.items():
        here = [each for each in found if each.bed == name and not each.is_about_claim]
        if here:
            lines += [f"## {name}", "", _describe(bed, here), "", *_table(here), ""]
    return "\n".join(lines).rstrip() + "\n"


def _describe(bed: Bed, here: Sequence[Outcome]) -> str:
    model = bed.manifest.removeprefix("manifests/").removesuffix(".yml")
    dataset = bed.dataset.removeprefix("manifests/").removesuffix(".yml").replace("*", r"\*")
    return f"`{model}` on {dataset}: {bed.metric} {here[0].claim} {here[0].unit}".rstrip() + " claimed."


def _table(here: Iterable[Outcome]) -> Iterator[str]:
    yield "| fault | kind | measured | place | named first | said | evaluations |"
    yield "|---|---|---|---|---|---|---|"
    for each in here:
        kinds = " + ".join(each.pitfalls) + ("" if each.known else " (own values)")
        measured = f"{each.measured:.2f}"
        if each.counts:
            first = each.named[0][0] if each.named else "nothing"
            found = f"{place(each)} | {first} | {each.said} | {each.evaluations:.1f}"
            yield f"| {each.fault} | {kinds} | {measured} | {found} |"
        else:
            yield f"| {each.fault} | {kinds} | {measured} | no effect | – | – | – |"


def _claims(found: Iterable[Outcome]) -> Iterator[str]:
    yield "| bed | claimed | measured | verdict | named as the cause | evaluations |"
    yield "|---|---|---|---|---|---|"
    for each in found:
        named = each.named[0][0] if each.said in ("explains", "most") else "nothing"
        numbers = f"{each.claim} | {each.measured:.2f} | {each.verdict}"
        yield f"| {each.bed} | {numbers} | {named} | {each.evaluations:.1f} |"
