"""Trainings with an interface: the manifest's module has the parts, and the loop around them is ours.

`code` finds the functions, `order` draws what is random by seed, `data` and `ahead` make batches, `adapter` and its
neighbors know a framework each, `checkpoint` and `curve` write what survives a kill, and `loop` puts it together.
"""
