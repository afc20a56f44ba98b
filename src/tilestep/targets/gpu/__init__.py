"""NVIDIA GPUs as a target: plans recorded on the CPU, replayed by a worker that runs our own code only.

Importing this imports nothing of CUDA's: only the worker does, and only when it runs.
"""

from tilestep.targets.gpu.target import GpuTarget

__all__ = ["GpuTarget"]
