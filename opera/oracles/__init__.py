"""The judgement of a test's outcome: comparison of outputs, review, and verdicts."""
