"""A reimplementation tested component by component against the original."""
