"""Recorders: they watch a DL library's own tests and write down operator instances.

Every module here runs inside the library's own test process, in the library's own environment.
It may use the standard library and that one library, nothing else, not even `opera`.
"""
