"""How costs grow with entities, triples, clauses and dim, on graphs that are made up."""
