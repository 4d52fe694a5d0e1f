"""Findings and passing tests as a suite that a compiler's project can merge and run without OPERA."""
