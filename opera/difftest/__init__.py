"""One differential test: the requests to the two workers, and the judgement of their replies."""
