"""Subcommands of `opera` other than the three stages, one module each."""
