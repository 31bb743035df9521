"""What a model file is made of, before anything runs: counts, shapes, operations, and what a framework lacks for it."""
