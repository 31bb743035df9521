"""Layers of two networks: what frameworks call them, and which of them are the same."""
