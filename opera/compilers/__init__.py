"""Systems under test: one adapter a file, found by the entry-point group `opera.compilers`, loaded in a worker only."""
