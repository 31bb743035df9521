"""What a layer passes on, as it is read one layer at a time."""


class Passed(object):
    """A tensor between layers: its name, the kind and the name of the layer that made it, and what that took.

    What a framework does not tell is left empty.
    """

    def __init__(self, name, value, kind="", layer="", takes=(), attributes=()):
        self.name = name
        self.value = value
        self.kind = kind
        self.layer = layer
        self.takes = list(takes)
        self.attributes = dict(attributes)
