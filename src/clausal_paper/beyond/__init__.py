"""Tables beyond the paper: modern base models on five benchmarks, without and with clauses."""
