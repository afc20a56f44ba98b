"""The `tilestep` command, and `python -m tilestep`.

Nothing is imported up here but what Python has loaded: the rest takes a moment, and Ctrl-C may come in it.
"""

import os
import sys

INTERRUPTED = 130


def _leave(*_: object) -> None:
    """While modules are loaded nothing runs and nothing is open that would have to be ended."""
    os._exit(INTERRUPTED)


def main() -> None:
    """Loads the command line, which then answers interrupts itself."""
    try:
        import signal

        # An exception in the middle of a module's import may come out as another one, or be printed.
        signal.signal(signal.SIGINT, _leave)
        from tilestep.cli import main as run
    except KeyboardInterrupt:
        _leave()
    run()


def _run() -> None:
    # Python puts the current folder first; what lies there is nobody's to import.
    if not sys.flags.safe_path and sys.path[0] == os.getcwd():  # noqa: PTH109  (as Python wrote it)
        del sys.path[0]
    main()


if __name__ == "__main__":
    _run()
