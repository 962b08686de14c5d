"""Kernels for CUDA GPUs, in Triton. Nothing here waits for the GPU, so that a graph can hold it."""

from clausal.kernels.cuda.kernels import CUDAKernels, descend_

__all__ = ["CUDAKernels", "descend_"]
