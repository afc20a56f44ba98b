"""The kernels: one folder a step, one idea a file."""
