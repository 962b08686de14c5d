"""Kernels for CUDA GPUs, in Triton. Nothing here waits for the GPU, so that a graph can hold it."""

from clausal.kernels.cuda.kernels import CUDAKernels, descend_
from clausal.kernels.cuda.phases import scores_at_best_phases

__all__ = ["CUDAKernels", "descend_", "scores_at_best_phases"]
