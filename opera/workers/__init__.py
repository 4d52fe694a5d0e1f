"""Workers: child processes that hold a DL library or a compiler, so that the driver never does.

A worker speaks length-prefixed JSON on a private pair of pipes, says each stage before it enters it, and can be killed at any
moment. The child's half uses the standard library only and can run in another environment, where OPERA is not installed.
"""
