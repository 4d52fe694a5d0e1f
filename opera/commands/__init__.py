"""The subcommands of `opera` after the three stages, one a module."""
