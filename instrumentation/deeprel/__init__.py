"""Generation by relation: the recorded calls of an API, replayed on APIs that are like it and behave like it.

Nothing in this package knows a library but its module `pytorch`, which runs beside that library.
"""
