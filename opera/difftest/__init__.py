"""One differential test: what is asked of the two workers, and what their answers come to."""
