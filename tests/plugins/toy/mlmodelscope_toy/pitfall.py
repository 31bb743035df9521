"""A pitfall: negatives that are taken for pictures."""

from mlmodelscope.replicate.pitfall.pitfall import find, pitfall, step, steps_of, with_steps


@pitfall("toy-invert", "Negatives")
def toy_invert(plan):
    """Toy grids hold negatives. **How to check.** Look at one: a bright corner is dark."""
    steps, at = list(steps_of(plan)), find(plan, "toy_invert")
    if at is None:
        yield "inverted", with_steps(plan, [step("toy_invert", white=255.0), *steps])
    else:
        yield "not inverted", with_steps(plan, steps[:at] + steps[at + 1 :])
