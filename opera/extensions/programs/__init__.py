"""Programs of many operators: their document, their types, and a generator that works from the type of the result backwards.

The package stands on the standard library and numpy. Compilers' languages are printed by modules in `templates/`.
"""
