"""A zoo of graphs that nobody tuned for: the same two commands on each of them, in one table."""
