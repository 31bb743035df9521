import os
import sys

# `python -m` looks for modules in the current folder first: a user's own `numpy.py` or `queue.py` must not be found.
if sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from .main import main  # noqa: E402

main()
