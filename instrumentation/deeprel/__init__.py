"""Generation by relation: the recorded calls of an API, replayed on APIs that are like it and behave like it.

Nothing in this package knows a library but the modules called like one, which run beside that library.
"""
