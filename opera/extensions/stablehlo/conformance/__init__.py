"""Runs self-checking StableHLO programs on the reference interpreter: `opera stablehlo`."""
