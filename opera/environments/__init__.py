"""Separate virtual environments for compilers and libraries with conflicting requirements, and their packages."""
