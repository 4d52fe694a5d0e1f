"""Self-checking StableHLO programs: the text, the checks and the printed forms. Needs numpy and ml_dtypes, and no compiler."""
