"""Makes failing instances smaller, and finds the properties that make a compiler fail."""
