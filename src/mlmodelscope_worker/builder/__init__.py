"""Models that a library builds: an architecture by its name, filled with weights from a file.

The library is the stack's. Only what its own registry lists can be named, and weights are tensors alone.
"""
