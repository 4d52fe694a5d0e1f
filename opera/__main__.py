"""Runs the commands as `python -m opera`."""

from opera.cli import main

if __name__ == "__main__":
    main()
