"""Whether a variant explains a number that is no share of samples, such as PSNR, or only happens to come to it.

Were a variant no better than the manifest, each sample would move up as soon as down by what it moved (the
randomization test by changes of sign). The number then moves by chance alone, and how far follows from how far the
samples move: with five samples that all go the same way, the most telling outcome there is has a chance of 1 in 32.
That is little, where dozens of variants were tried. What tells more is how exactly a claim is met: a number printed
to two digits is met by chance the more seldom the farther chance would scatter. The chance of a false cause is that of
any of the variants that were tried to be as telling and to come to the claim, as in `significance`: a pitfall with
thirty variants must be thirty times as sure of each of them.

With many samples that is not enough: another rule moves every sample the same way, whether it is the cause or not. So
the chance is at least that of any of the variants which move the number about as far to land between the printed
digits, were they to move it by any amount up to there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

_CURVE = NormalDist()
_ALIKE = 4.0
"""By what factor a variant may move a number more or less than to the claim, and still might have landed there."""


@dataclass(frozen=True)
class Move:
    """How far a variant moves a number, and how far it would have to."""

    toward: float
    """In the direction of the claim; below 0 where it moves away."""
    spread: float
    """Standard deviation of that, by the samples that were seen."""
    seen: int
    total: int
    window: tuple[float, float]
    """By how much the number may rise and still be what was claimed: (at least, at most)."""
    weight: float = 1.0
    """How much of the permitted chance this variant may take, compared with others."""

    @property
    def scatter(self) -> float:
        """How far the number of all samples would move by chance: every sample by as much as it did, up or down."""
        if not math.isfinite(self.spread):
            return 0.0
        on_seen = math.hypot(self.spread * math.sqrt(1 - 1 / max(2, self.seen)), self.toward / math.sqrt(self.seen))
        return on_seen * math.sqrt(self.seen / self.total)

    @property
    def p_value(self) -> float:
        """How likely such a move toward the claim is by chance."""
        if not self.scatter:
            return 1.0
        # So few signs have no more ways to fall.
        return max(_CURVE.cdf(-self.toward / self.scatter), 0.5 ** min(self.seen, 1000))


def chance_of_move(own: Move, tried: Iterable[Move], is_reached: bool) -> float:
    """How likely any of the variants that were tried would be as telling by chance, and come to the claim.

    `tried` holds the move itself, too. Where it does not come to the claim, the others need not either.
    """
    level = own.p_value / own.weight
    tried = list(tried)
    by_sign = sum(_share_of(each, level * each.weight, is_reached) for each in tried)
    return min(1.0, max(by_sign, _landing(own, tried) if is_reached else 0.0))


def _landing(own: Move, tried: Iterable[Move]) -> float:
    """How likely one of them lands in the window, by how wide it is and how far away; rarer pitfalls count for less."""
    low, high = own.window
    far = max(abs(low + high) / 2, high - low)
    alike = [each for each in tried if far / _ALIKE <= abs(each.toward) <= far * _ALIKE]
    return sum(min(1.0, each.weight / own.weight) for each in alike) * (high - low) / (2 * far)


def _share_of(tried: Move, level: float, is_reached: bool) -> float:
    scatter = tried.scatter
    if not scatter or level < 0.5**tried.total:  # it could not have been as telling, whatever it had done
        return 0.0
    if not is_reached:
        return min(1.0, level)
    least = -_CURVE.inv_cdf(level) * scatter if level < 1 else -math.inf
    low, high = max(tried.window[0], least), tried.window[1]
    return _CURVE.cdf(-low / scatter) - _CURVE.cdf(-high / scatter) if low < high else 0.0
