"""Training and ranking beside PyKEEN: ours, theirs, and what is asked of the ratio."""
