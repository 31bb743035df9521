"""Spans of a trace: lists [name, level, start_ns, end_ns, parent, attributes], parents first.

`parent` is a place in the list.
"""

from ..predictor.predictor import Steps


class Spans(object):
    """A list of spans that begins with the one around all others."""

    def __init__(self):
        self.rows = [["application", "application", 0, 0, None, {}]]

    def add(self, name, level, start_ns, end_ns, parent, **attributes):
        """The place of a new span."""
        self.rows.append([name, level, start_ns, end_ns, parent, attributes])
        return len(self.rows) - 1

    def add_run(self, start_ns, end_ns):
        """A batch of which nothing but the run is known."""
        batch = self.add("batch", "application", start_ns, end_ns, 0)
        return self.add("run", "model", start_ns, end_ns, batch)

    def finish(self):
        if len(self.rows) > 1:
            self.rows[0][2] = min(row[2] for row in self.rows[1:])
            self.rows[0][3] = max(row[3] for row in self.rows[1:])
        return self.rows


def add_profile(spans, profile):
    """What one run was made of, behind what is there: layers, or steps that have layers each."""
    if not isinstance(profile, Steps):
        add_layers(spans, profile)
        return
    start = max(row[3] for row in spans.rows)
    run, layers = spans.add_run(start, start), 0
    for name, each in profile:
        step = spans.add(name, "model", spans.rows[run][3], spans.rows[run][3] + (each.call_ns or 0), run)
        if each:
            _add_each(spans, each, spans.rows[step][2], step, layers)
        layers += len(each)
        spans.rows[run][3] = spans.rows[run - 1][3] = max(row[3] for row in spans.rows[step:])


def add_layers(spans, profile):
    """The layers of one call, behind what is there."""
    if not profile:
        return
    last_end = max(row[3] for row in spans.rows)
    run = spans.add_run(last_end, last_end + (profile.call_ns or 0))
    _add_each(spans, profile, last_end, run)
    spans.rows[run][3] = spans.rows[run - 1][3] = max(row[3] for row in spans.rows[run:])


def _add_each(spans, profile, last_end, run, before=0):
    """The layers of a call that begins at a moment; those that have no start of their own follow one another. `before`
    is how many there were in the same run."""
    timed = all(layer.start_ns is not None for layer in profile)
    first = 0
    if timed:
        first = min(layer.start_ns for layer in profile)
        first = first if profile.start_ns is None else min(first, profile.start_ns)
    cursor = last_end
    for index, layer in enumerate(profile, before):
        start = last_end + layer.start_ns - first if timed else cursor
        place = _add_layer(spans, layer, "framework", start, run, index=index)
        if timed:
            for each in layer.inside:
                _add_inside(spans, each, last_end - first, place)
        cursor = start + layer.duration_ns
    spans.rows[run][3] = max(row[3] for row in spans.rows[run:])


def _add_inside(spans, layer, shift, parent):
    place = _add_layer(spans, layer, "library", layer.start_ns + shift, parent)
    for each in layer.inside:
        _add_inside(spans, each, shift, place)


def _add_layer(spans, layer, level, start, parent, **attributes):
    attributes["kind"] = layer.kind
    if layer.shapes:
        attributes["shapes"] = layer.shapes
    if layer.memory_bytes is not None:
        attributes["memory_bytes"] = layer.memory_bytes
    if layer.lane is not None:
        attributes["lane"] = layer.lane
    for name in ("inputs", "outputs", "element_type", "flops", "moved_bytes"):
        value = getattr(layer, name)
        if value is not None and value != []:
            attributes[name] = value
    attributes.update(layer.more)
    return spans.add(layer.name, level, start, start + layer.duration_ns, parent, **attributes)
