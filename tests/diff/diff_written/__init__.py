"""The small networks in the files of frameworks that read no ONNX.

A network becomes a *program* first, one file of nodes and weights that needs no framework to be read; a module for each
framework writes it down, inside that framework's stack: `python write.py FORM PROGRAM.npz... `.
"""
