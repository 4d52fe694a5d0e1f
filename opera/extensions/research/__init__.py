"""Evaluation of strategies, on campaigns that ran a whole corpus."""
