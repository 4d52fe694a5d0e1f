"""Generation by relation: the recorded calls of an API, replayed on APIs that are like it and behave like it.

Only the modules that are named after a library know this library, and run in its process.
"""
