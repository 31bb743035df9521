"""Load: how queries reach the model, one file for each scenario.

Queries are made in the process that answers them, right beside the framework's call: between the two readings of the
clock around a query nothing of ours runs, nothing is sent, and what is kept is written into arrays that were there
before. The host asks for a run of one scenario and gets everything back when it is over.
"""

from .run import Load

__all__ = ["Load"]
