"""`python -m tilestep`. Python puts the current folder first; what lies there is nobody's to import."""

import os
import sys


def _run() -> None:
    if not sys.flags.safe_path and sys.path[0] == os.getcwd():  # noqa: PTH109  (as Python wrote it)
        del sys.path[0]
    from tilestep.cli import main

    main()


if __name__ == "__main__":
    _run()
