"""Kernels for the CPU, compiled by Numba: no compiler is needed on the machine."""

from clausal.kernels.cpu.kernels import CPUKernels
from clausal.kernels.cpu.set_kernels import CPUSetKernels

__all__ = ["CPUKernels", "CPUSetKernels"]
