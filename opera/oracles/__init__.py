"""What a test's outcome means: comparison of outputs, and verdicts."""
