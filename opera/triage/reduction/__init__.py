"""Makes failing instances smaller, and finds what it is about them that makes a compiler fail."""
