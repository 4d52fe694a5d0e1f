"""From failing tests to findings: reduction, triggers, and groups with one root cause."""
