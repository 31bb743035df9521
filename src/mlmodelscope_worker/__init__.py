"""Runs inside a stack: Python 3.6 or newer, standard library and numpy only."""

__version__ = "0.1.0"
