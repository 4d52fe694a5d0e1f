"""The commands about whole models."""
