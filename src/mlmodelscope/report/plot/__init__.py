"""Plots that stand alone: each is one SVG text, for a file or a page, light and dark, without scripts."""

from mlmodelscope.report.plot.axis import Axis
from mlmodelscope.report.plot.bars import bars, grouped_bars, stacked_bars
from mlmodelscope.report.plot.heat import heat_map
from mlmodelscope.report.plot.lanes import Piece, lanes
from mlmodelscope.report.plot.png import to_png
from mlmodelscope.report.plot.roofline import roofline
from mlmodelscope.report.plot.scatter import Line, Mark, scatter
from mlmodelscope.report.plot.shares import shares

__all__ = [
    "Axis",
    "Line",
    "Mark",
    "Piece",
    "bars",
    "grouped_bars",
    "heat_map",
    "lanes",
    "roofline",
    "scatter",
    "shares",
    "stacked_bars",
    "to_png",
]
