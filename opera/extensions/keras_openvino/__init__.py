"""Keras on its OpenVINO backend: the adapter."""
