"""Failures that are known: matching between campaigns, baselines, comparison of versions."""
