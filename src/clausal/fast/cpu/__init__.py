"""Kernels for the CPU, compiled by Numba: no compiler is needed on the machine."""

from clausal.fast.cpu.clauses import CPUClauseKernels
from clausal.fast.cpu.step import CPUKernels

__all__ = ["CPUClauseKernels", "CPUKernels"]
