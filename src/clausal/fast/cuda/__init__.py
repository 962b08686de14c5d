"""Kernels for CUDA GPUs, in Triton. Nothing here waits for the GPU, so that a graph can hold it."""
