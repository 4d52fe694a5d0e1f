"""Other settings of recorded calls: the same kinds for each library, from what the library itself declares of its parameters.

Only the run of a library says which of the settings are valid.
"""
