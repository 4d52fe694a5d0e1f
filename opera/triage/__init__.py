"""From failing tests to findings: what a raw failure says, and which failures say the same."""
