"""Kernels for CUDA GPUs, in Triton. Nothing here waits for the GPU, so that a graph can hold it."""

from clausal.fast.cuda.phases import scores_at_best_phases
from clausal.fast.cuda.step import CUDAKernels, descend_

__all__ = ["CUDAKernels", "descend_", "scores_at_best_phases"]
