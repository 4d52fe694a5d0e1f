"""Plug-in execution providers of ONNX Runtime: a base class, an adapter for each provider, and one for a package that a user names."""
