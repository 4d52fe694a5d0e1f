"""Calls of PyTorch that draw random numbers, with what holds for each right implementation of them."""
