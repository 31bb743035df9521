"""What a decoder remembers: outputs of one call that are inputs of the next one, keys and values most often."""

from .predictor import ModelError


class Past(object):
    """Which outputs of a decoder come back to which of its inputs. `pairs` say how names begin: {before: after}."""

    def __init__(self, decoder, pairs):
        self._takes = {tensor.name: tensor for tensor in decoder.inputs}
        self._is_lasting = decoder.outputs_last
        self._made = {tensor.name: place for place, tensor in enumerate(decoder.outputs)}
        self.places = {}
        """{input: the place of the output that becomes it}."""
        for before, after in pairs.items():
            self._add(before, after)
        self._items = tuple(self.places.items())

    def _add(self, before, after):
        names = [name for name in self._takes if name.startswith(before)]
        if not names:
            takes = ", ".join(self._takes)
            raise ModelError("no input of the decoder begins with `%s`, as `past` says; it takes %s" % (before, takes))
        for name in names:
            made = after + name[len(before) :]
            if made not in self._made:
                words = (made, name, ", ".join(self._made))
                raise ModelError("the decoder has no output `%s` to feed `%s` with; it gives %s" % words)
            self.places[name] = self._made[made]

    def empty(self, name, rows):
        """What an input gets before there is a past: its first open size is that of the rows, others are 0."""
        import numpy as np

        tensor = self._takes[name]
        if tensor.shape is None:
            raise ModelError(
                "the shape of the decoder's input `%s` is open: nobody knows what its past looks like" % name
            )
        shape = [(rows if place == 0 else 0) if size is None else size for place, size in enumerate(tensor.shape)]
        return np.zeros(shape, tensor.element_type)

    def kept(self, before, outputs, order, stays=()):
        """What the next call gets of this one. `order` says which row each of the next ones goes on from, None where
        they are the same; what has one of `stays` in its name remains what the first call made it."""
        if order is None and not stays and self._is_lasting:  # each token comes by here
            return {name: outputs[place] for name, place in self._items}
        found = {}
        for name, place in self._items:
            is_old = before is not None and any(each in name for each in stays)
            whole = before[name] if is_old else outputs[place]
            if order is not None:
                found[name] = whole[order]
            else:
                found[name] = whole if is_old or self._is_lasting else whole.copy()
        return found
