"""Values of several samples that go through steps together."""


class Failed(object):
    """Stands among what samples became for one that could not be had."""

    def __init__(self, error):
        self.error = error


class Together(object):
    """`values` of those that are still good, `places` they have among all, `failed` {place: why it is not}."""

    __slots__ = ("values", "places", "failed")

    def __init__(self, values, places=None, failed=None):
        self.values = values
        self.places = range(len(values)) if places is None else places
        self.failed = failed or {}

    def each(self, function, **parameters):
        """What a function gives for each of them."""
        made, places, failed = [], self.places, dict(self.failed)
        for place, value in zip(places, self.values):
            try:
                made.append(function(value, **parameters))
            except BaseException as error:  # even an exit, and what libraries in Rust panic with
                failed[place] = error
        if len(made) < len(self.values):
            places = [place for place in places if place not in failed]
        return Together(made, places, failed)

    def step(self, function, parameters, at_once=None):
        """What a step gives: all in one go where it can, and else, or where that fails, each by itself."""
        if at_once is not None and self.values:
            try:
                made = at_once(self.values, **parameters)
            except BaseException:  # whose fault it was shows when each goes by itself
                made = ()
            if len(made) == len(self.values):
                return Together(made, self.places, self.failed)
        return self.each(function, **parameters)

    def listed(self):
        """All of them in their places, a Failed where there is no value."""
        if not self.failed:
            return self.values
        found = dict(zip(self.places, self.values))
        return [
            found[place] if place in found else Failed(self.failed[place])
            for place in range(len(found) + len(self.failed))
        ]


def joined(columns):
    """Rows of what the same samples became in several pipelines, of those that are good in all of them."""
    first = columns[0]
    if not any([each.failed for each in columns]):
        return Together(list(zip(*[each.values for each in columns])), first.places)
    failed = {}
    for each in reversed(columns):  # of several reasons the first one is told
        failed.update(each.failed)
    found = [dict(zip(each.places, each.values)) for each in columns]
    places = [place for place in first.places if place not in failed]
    return Together([tuple(each[place] for each in found) for place in places], places, failed)
