"""Which template makes models of which library: found by entry point, so that a third party can add a library."""

from __future__ import annotations

from opera.errors import EnvironmentBroken, UserError
from opera.plugins import registered

GROUP = "opera.templates"


def template_of(library: str) -> str:
    """`module:attribute` of the template for *library*, to be imported in a worker beside it."""
    known = registered(GROUP)
    if not known:
        raise EnvironmentBroken("no model template is registered: opera is not installed here; `make setup` or `pip install .` does it")
    if library not in known:
        raise UserError(f"no model template for library {library!r}; there are: {', '.join(known)}")
    return known[library]


def libraries_with_templates() -> list[str]:
    """The libraries that instances can be made models of."""
    return list(registered(GROUP))
