"""Environments: virtual environments of their own for compilers and libraries that do not fit beside the others, and what is in them."""
