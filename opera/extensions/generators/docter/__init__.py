"""Generation of calls from constraints: what signatures, documentation and constraint files say of each parameter.

Only its modules `pytorch`, `tensorflow` and `keras` know a library; each runs in the process of that library.
"""
