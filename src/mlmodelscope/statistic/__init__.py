"""Statistics that know nothing of models: intervals, tests, drawing samples again."""
