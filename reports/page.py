"""What every page of ours is made with: templates in which text of others is escaped, and style sheets and scripts that
stand in the page, which its Content-Security-Policy names by their hashes."""

from __future__ import annotations

import base64
import hashlib

import jinja2
from markupsafe import Markup

from corpus.escapes import one_line, visible

_TEMPLATES = jinja2.PackageLoader("reports", "templates")


def environment() -> jinja2.Environment:
    """The templates. After control characters have become visible, autoescape does the rest; `line` makes one line."""
    made = jinja2.Environment(
        loader=_TEMPLATES,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=_finalized,
    )
    made.filters["line"] = one_line
    return made


def _finalized(value: object) -> str:
    return value if isinstance(value, Markup) else visible(value)


def inlined(*files: str) -> Markup:
    """The text of files of ours among the templates, one after another."""
    made = environment()
    return Markup("".join(_TEMPLATES.get_source(made, file)[0] for file in files))  # noqa: S704 - files of ours


def hashed(text: Markup) -> Markup:
    """What a policy says to allow this text (CSP level 2, section 4.2.5)."""
    return Markup(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode())  # noqa: S704 - base64
