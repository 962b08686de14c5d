"""Kernels for the CPU, compiled by Numba: no compiler is needed on the machine."""

from clausal.kernels.cpu.clause_kernels import CPUClauseKernels
from clausal.kernels.cpu.kernels import CPUKernels

__all__ = ["CPUClauseKernels", "CPUKernels"]
