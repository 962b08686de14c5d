"""What several benchmarks share: a process of its own for each measurement, its memory, and the machine it ran on."""
