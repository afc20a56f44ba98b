"""tilestep judges the kernels of a Llama decoder block, on a GPU or with none."""

__version__ = "0.1.0"
