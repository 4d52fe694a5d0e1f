"""LiteRT in integers of 8 bits: the adapter."""
