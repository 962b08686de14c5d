"""Kernels for the CPU, compiled by Numba: no compiler is needed on the machine."""
