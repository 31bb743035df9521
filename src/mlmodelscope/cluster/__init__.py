"""The same sentence on many machines: what an agent has, which agents fit, and the loop that does the work."""
