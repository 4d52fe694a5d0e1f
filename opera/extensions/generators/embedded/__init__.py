"""Recorded calls of PyTorch inside larger graphs."""
