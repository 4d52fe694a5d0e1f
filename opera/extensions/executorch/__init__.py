"""ExecuTorch, in an environment of its own: the adapter."""
