"""Boxes: the best corner of each component, exactly for one form and as a dual bound for several."""
