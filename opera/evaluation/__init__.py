"""Evaluation: how good strategies are, from campaigns that ran a whole corpus."""
