"""OPERA: finds bugs in the frontends of deep-learning compilers by migrating the DL libraries' own tests."""

__version__ = "0.1.0"
