"""Unit tests of a model that somebody has implemented once more, run inside its own stack.

A check draws its inputs of a seed, calls the functions of the module, and gives a verdict in words. What is compared
with the original travels through files of arrays: the original's stack writes them, this one reads them.
"""
