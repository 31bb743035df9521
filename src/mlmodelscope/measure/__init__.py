"""The ruler: answers and targets become scores, and scores become numbers, in a process of its own.

It runs in the host's Python, whatever stack the model ran in: the stack is part of what is measured, the ruler is not.
Only the modules that this process imports need numpy; `ruler` is the host's end, and needs nothing.
"""
