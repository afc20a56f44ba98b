"""Test processes share the cores already: no second layer of threads inside NumPy."""

import tilestep.blas  # noqa: F401
