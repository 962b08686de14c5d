"""``PYTHONPATH=benchmarks python -m inductive``: see ``measure``."""

from inductive.measure import main

if __name__ == "__main__":
    main()
