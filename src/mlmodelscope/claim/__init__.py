"""Published numbers and what became of each: listed, and checked many at a time."""
