"""Small repairs of models, which scripts of findings run with: what one repair mends belongs together."""
