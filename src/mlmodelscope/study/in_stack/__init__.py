"""What runs inside a stack on behalf of a study: Python 3.6 with the worker package and numpy, and a C program."""
