"""Corpus tools: choose a part of a corpus, write it to a file, compare two corpora, and call instances again."""
