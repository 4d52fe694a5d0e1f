"""Inductor on an NVIDIA GPU: the adapter."""
