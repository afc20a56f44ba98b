"""What every test needs: cores shared without a second layer of threads, and the CPU for `judge`."""

import os

import tilestep.blas  # noqa: F401  (test processes share the cores already)

os.environ["TILESTEP_TARGET"] = "cpu"  # on a machine with a GPU `judge` would take it
