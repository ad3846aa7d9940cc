"""Tag numbers of the lexbor parser, and which elements a renderer may treat alike.

lexbor numbers the tags it knows; a number is cheaper to read and compare than a name. Tags that it does not
know (custom elements) have numbers of their own in each document, all above any known one.
"""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

_PARSER = LexborHTMLParser("")

TEXT = 2
COMMENT = 4
DOCTYPE = 5
LAST_KNOWN = 1_000
"""Above every number that lexbor gives to a tag of its own table (it has some 200)."""


def tag_number(name: str) -> int:
    """The number of the known element `name`."""
    number = int(_PARSER.create_node(name).tag_id)
    assert number < LAST_KNOWN, name
    return number


BLOCKS = (
    "address article aside body caption center col colgroup dd details dialog div dl dt fieldset figcaption "
    "figure footer form frameset header hgroup html legend main nav optgroup option p search section summary "
    "tbody tfoot thead"
)
"""Elements that stand on lines of their own and need no markup, separated by spaces."""

SKIPPED = (
    "style template head title noframes noembed iframe frame object embed applet video audio canvas svg "
    "select datalist textarea meter progress area map source track param rp meta link base basefont bgsound"
)
"""Elements that render nothing, whatever is inside.

Code and metadata; fallback for embedded content, which a browser shows only where it can't show the content
itself (iframe, object, video, audio, canvas); drawings (svg); what a visitor may choose or has typed in a
form (select, datalist, textarea); the parentheses of ruby, which are written whether the page has them or
not.
"""
