"""What the functions of a manifest are given beside their data: `ctx`, and the list `dataset`."""


def make_context(task, predictor):
    """The `ctx` of every function: a plain dictionary, described in docs/functions.md."""
    context = dict(task.context)
    context["artifacts"] = dict(task.files)
    context["files"] = dict(task.named_files)
    context["model"] = predictor if task.predictor.name else None
    context["options"] = dict(task.predictor.options, batch_size=task.batch_size, seed=task.seed)
    context["hyperparameters"] = dict(task.hyperparameters)
    context["seed"] = task.seed
    context["batch_size"] = task.batch_size
    context["features"] = task.features or []
    if task.folder:
        context["folder"] = task.folder
    return context


class Numbers(object):
    """The list `dataset` of V2's functions: a sample by its number, or by whatever else it is called."""

    def __init__(self):
        self._values = {}
        self._next = 0

    def __getitem__(self, number):
        try:
            return self._values.get(number, number)
        except TypeError:  # pixels, which are no key
            return number

    def __len__(self):
        return len(self._values)

    def lend(self, value):
        return _Lent(self._values, self, value)

    def take_number(self):
        self._next += 1
        return self._next - 1


class _Lent(object):
    def __init__(self, values, numbers, value):
        self._values, self._numbers, self._value = values, numbers, value

    def __enter__(self):
        self._number = self._numbers.take_number()
        self._values[self._number] = self._value
        return self._number

    def __exit__(self, *exception):
        del self._values[self._number]
