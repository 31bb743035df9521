"""Tasks, inside a stack: how a model's outputs become answers. One file for each, imported when a plan asks for it."""

from .reader import OURS, TASKS, Read, Reader, reader_of

__all__ = ["OURS", "TASKS", "Read", "Reader", "reader_of"]
