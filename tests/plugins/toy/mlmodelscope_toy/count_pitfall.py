"""A pitfall of a task: counts that are made whole in another way than their author does."""

from mlmodelscope.replicate.pitfall.pitfall import pitfall


@pitfall("toy-whole", "Whole counts")
def toy_whole(plan):
    """Half a square is a square, or it is none. **How to check.** Look for `toy_whole` under `answer`."""
    for place, step in enumerate(plan.answer.steps):
        if step.name == "toy_whole":
            how = "down" if step.parameters["how"] == "nearest" else "nearest"
            other = step.model_copy(update={"parameters": {"how": how}})
            steps = (*plan.answer.steps[:place], other, *plan.answer.steps[place + 1 :])
            yield how, plan.model_copy(update={"answer": plan.answer.model_copy(update={"steps": steps})})
