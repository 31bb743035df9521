"""What other packages add, through entry points.

`installed` reads which things there are, `load` imports one with care, `files` tells what its module consists of, and
a `Registry` has the things of one kind by name, ours and theirs.
"""
