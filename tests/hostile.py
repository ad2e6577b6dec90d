"""Text that strangers write to be more than text, for tests of everything that shows or stores it."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

_SLOW = (HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large)


def register_profiles() -> None:
    """One for every test, in which no time counts, and one for `pytest --hypothesis-profile long`."""
    settings.register_profile("untimed", deadline=None, suppress_health_check=(HealthCheck.too_slow,))
    settings.load_profile("untimed")
    settings.register_profile("long", max_examples=50_000, deadline=None, suppress_health_check=_SLOW)


def examples(number: int) -> settings:
    """So many generated examples, the same in every run; with `pytest --hypothesis-profile long` many, and others."""
    if settings.get_current_profile_name() == "long":
        return settings()
    return settings(max_examples=number, deadline=None, derandomize=True, database=None, suppress_health_check=_SLOW)


FRAGMENTS = (
    # terminals
    *("\x1b[31m", "\x1b]0;title\x07", "\x1b]8;;http://evil\x1b\\", "\x9b2J", "\x9d0;x\x9c", "\r", "\b", "\x00", "\x7f"),
    *("\u202e", "\u2066", "\u200b", "\ufeff", "\u2028", "\u2029", "\x85", "\u00ad", "\U000e0041", "\ud800", "\udcff"),
    *("[bold]", "[/bold]", "[/]", "[link=http://evil]x[/link]", ":smile:", "\t", "\n", "\r\n", "\v", "\f"),
    # CI jobs
    *("::error::x", "\n::set-output name=a::b", "\n \t::add-mask::x", "##[error]x", "##[group]", "##vso[task.x]y"),
    # Markdown
    *(
        "```",
        "````\n",
        "~~~",
        "\n\n# head\n\n",
        "\n---\n",
        "\n===\n",
        "|",
        "\\|",
        "\\",
        "`",
        "*",
        "**",
        "_",
        "__",
        "~~",
    ),
    *("_x_", "a_b_c", "é_é_", "[x](http://evil)", "![x](http://evil)", "[x][y]", "[y]: http://evil", "<http://evil>"),
    *("http://evil", "www.evil.org", "@user", "@org/team", "a@b.org", "#1", "GH-1", "org/repo#1", "mailto:a@b.org"),
    *("$x$", "$$", "&lt;", "&#64;", "&", "- x", "+ x", "1. x", "2) x", "> x", "    x", "[ ] x", "<!--", "-->"),
    *("<details>", "</details>", "\n</td>\n"),
    # HTML and XML
    *("<script>alert(1)</script>", "</code></a>", '" onmouseover="x', "' x='", "]]>", "<![CDATA[", "<?x?>", "&bogus;"),
    # paths, schemes, templates
    *("javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "../../x", "/etc/passwd", "..", "C:\\x", "con"),
    *("{}", "{0}", "{x}", "%s", "{{7*7}}", "$(id)", "`id`", "; id", "\ufffe", "\uffff", "é", "\U0001f600", "x" * 300),
)
"""One thing each that a format, a terminal or a file system obeys."""

HOSTILE = "".join(f" {fragment} {fragment}" for fragment in FRAGMENTS)
"""All of them."""

texts = st.one_of(
    st.lists(st.sampled_from((*FRAGMENTS, "x", " ")), max_size=6).map("".join),
    st.text(st.characters(), max_size=20),
)
"""Any text, lone surrogates included, and often fragments next to each other."""
