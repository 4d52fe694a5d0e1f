"""Keras on its other backends: a further opinion on a failing test."""
