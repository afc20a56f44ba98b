"""`python -m tilestep`."""

from tilestep.cli import main

if __name__ == "__main__":
    main()
