"""Systems under test: one adapter per file, found by the entry-point group `opera.compilers`, loaded in a worker only."""
