"""Masks and keypoints of COCO's annotations, checked before anything runs: what is odd is an error with its id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlmodelscope.dataset.boxes import is_finite
from mlmodelscope.errors import DatasetError

_MOST_NUMBERS = 200_000
"""Of the polygons of one thing; real ones have a few thousand at most."""
_MOST_POINTS = 1000


def mask_of(annotation: dict[str, Any], what: str, size: tuple[int, int] | None) -> Any:
    """Polygons as they are, run lengths compressed; of a picture of this height and width."""
    given = annotation.get("segmentation")
    if size is None:
        raise DatasetError(f"{what} is of a picture whose size is not known")
    if isinstance(given, dict):
        return _runs(given, what, size)
    if not isinstance(given, list) or not given:
        raise DatasetError(f"{what} has no `segmentation`: polygons, or run lengths with `size` and `counts`")
    return [_polygon(each, what, size) for each in _few(given, what)]


def _few(polygons: list[Any], what: str) -> list[Any]:
    if sum(len(each) if isinstance(each, list) else 1 for each in polygons) > _MOST_NUMBERS:
        raise DatasetError(f"{what} has polygons of more than {_MOST_NUMBERS:,} numbers")
    return polygons


def _polygon(given: Any, what: str, size: tuple[int, int]) -> list[float]:
    if not isinstance(given, list) or not all(is_finite(each) for each in given):
        raise DatasetError(f"{what} has a polygon that is not a list of finite numbers: {str(given)[:80]}")
    if len(given) < 6 or len(given) % 2:
        raise DatasetError(f"{what} has a polygon of {len(given)} numbers; pairs of x and y of three points are needed")
    height, width = size
    for x, y in zip(given[0::2], given[1::2], strict=True):
        if not (-width <= x <= 2 * width and -height <= y <= 2 * height):
            raise DatasetError(
                f"{what} has a point far outside the picture of {width} x {height} pixels: [{x:g}, {y:g}]"
            )
    return [float(each) for each in given]


def _runs(given: dict[str, Any], what: str, size: tuple[int, int]) -> str:
    if given.get("size") != list(size):
        raise DatasetError(
            f"{what} has run lengths for a picture of another size: {str(given.get('size'))[:40]} "
            f"in place of {list(size)} (height, width)"
        )
    counts = given.get("counts")
    if isinstance(counts, str):
        _refuse_other_sum(decompress(counts, what), what, size)
        return counts
    if not isinstance(counts, list) or not all(type(each) is int and each >= 0 for each in counts):
        raise DatasetError(f"{what} has run lengths that are not whole numbers: {str(counts)[:80]}")
    _refuse_other_sum(counts, what, size)
    return compress(counts)


def _refuse_other_sum(counts: Sequence[int], what: str, size: tuple[int, int]) -> None:
    if sum(counts) != size[0] * size[1]:
        raise DatasetError(
            f"{what} has run lengths of {f'{sum(counts):,}'[:40]} pixels; the picture has {size[0] * size[1]:,} "
            f"({size[1]} x {size[0]})"
        )


def compress(counts: Sequence[int]) -> str:
    """Run lengths as COCO writes them: differences to the last but one, five bits a letter."""
    letters = []
    for place, count in enumerate(counts):
        value = count - counts[place - 2] if place > 2 else count
        more = True
        while more:
            low = value & 31
            value >>= 5
            more = value != -1 if low & 16 else value != 0
            letters.append(chr(low + 48 + (32 if more else 0)))
    return "".join(letters)


def decompress(text: str, what: str = "it") -> list[int]:
    """Run lengths out of COCO's letters."""
    counts: list[int] = []
    value = shift = 0
    for letter in text:
        low = ord(letter) - 48
        if not 0 <= low < 64 or shift > 60:
            raise DatasetError(f"{what} has run lengths that cannot be read: {text[:40]}")
        value |= (low & 31) << shift
        shift += 5
        if not low & 32:
            if low & 16:
                value -= 1 << shift
            counts.append(value + (counts[-2] if len(counts) > 2 else 0))
            if counts[-1] < 0:
                raise DatasetError(f"{what} has run lengths that cannot be read: {text[:40]}")
            value = shift = 0
    if shift:
        raise DatasetError(f"{what} has run lengths that end in the middle: {text[-40:]}")
    return counts


def points_of(annotation: dict[str, Any], what: str, kinds: int | None) -> list[float]:
    """x, y and visibility of each point; `kinds` is how many a thing of its class has, where that is listed."""
    given = annotation.get("keypoints")
    if given is None and annotation.get("iscrowd") and kinds is not None:
        return [0.0] * (3 * kinds)
    if not isinstance(given, list) or not all(is_finite(each) for each in given):
        raise DatasetError(f"{what} has no `keypoints` of finite numbers: {str(given)[:80]}")
    if len(given) % 3 or (kinds is not None and len(given) != 3 * kinds):
        wanted = f"{kinds} keypoints of three" if kinds is not None else "three for each keypoint"
        raise DatasetError(f"{what} has {len(given)} numbers as `keypoints`; {wanted} are needed")
    return [float(each) for each in given]


def skeletons_of(categories: list[dict[str, Any]], numbers: dict[int, int], file: str) -> list[list[Any]]:
    """[class, pairs of points that are connected] where a category declares it; COCO counts points from 1."""
    found: list[list[Any]] = []
    for each in categories:
        given = each.get("skeleton")
        if given is None:
            continue
        most = len(each["keypoints"]) if isinstance(each.get("keypoints"), list) else _MOST_POINTS
        if not isinstance(given, list) or not all(_is_pair(pair, most) for pair in given):
            raise DatasetError(f"the category {each['id']} of {file} has a `skeleton` that cannot be read")
        found.append([numbers[each["id"]], [[one - 1, other - 1] for one, other in given]])
    return found


def _is_pair(value: Any, most: int) -> bool:
    return (
        isinstance(value, list) and len(value) == 2 and all(type(each) is int and 1 <= each <= most for each in value)
    )
