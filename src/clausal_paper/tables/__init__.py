"""Tables of link prediction, the paper's and those beyond it: rows, how each is trained, records, and comparisons."""
