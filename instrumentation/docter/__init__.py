"""Generation of calls from constraints: what signatures, documentation and constraint files say of each parameter.

Nothing in this package knows a library but its modules `pytorch`, `tensorflow` and `keras`, each of which runs beside that library.
"""
