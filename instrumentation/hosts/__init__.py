"""Hosts: programs that run the tests of one source under a recorder, in the library's own process."""
