"""Corpora beside extraction: choosing a part of one, carrying it in a file, comparing two, and calling its instances again."""
