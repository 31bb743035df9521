"""Work on other people's bytes in a process of its own, with an end to its time and memory."""
