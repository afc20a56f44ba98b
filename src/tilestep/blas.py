"""One thread for each of NumPy's matrix products: importing this module, before NumPy, sets it.

The judge keeps every core busy itself; a second layer of threads would only wait for the first.
"""

import os

for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(_name, "1")
