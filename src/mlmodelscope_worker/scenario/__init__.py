"""How load arrives."""
