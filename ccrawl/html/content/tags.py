"""Tags by name: lexbor's numbers of them, and what each is to main content."""

from __future__ import annotations

from selectolax.lexbor import LexborHTMLParser

from ccrawl.html.content.vocabulary import words

INLINE = words(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr q rb rp rt "
    "rtc ruby s samp small span strike strong sub sup time tt u var wbr br input button meter output "
    "progress picture source audio video canvas map area param embed"
)
SKIPPED = words(
    "script style template svg iframe object noframes head title meta link base select option optgroup "
    "datalist textarea applet audio video canvas"
)
# Tags whose class and id are read.
NAMED = words(
    "article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer "
    "form header li main nav ol p section summary table td tr ul address hgroup"
)
# One bit for each tag whose presence among the ancestors is evidence.
TAG_NAMES = words(
    "a p li ul ol dl dd dt table tr td th h1 h2 h3 h4 h5 h6 div span section article main aside nav "
    "header footer form blockquote pre code figure figcaption details summary label button address center "
    "dialog b strong em i time caption small font noscript"
)
TAG_BIT = {name: 1 << index for index, name in enumerate(TAG_NAMES)}
LINK = TAG_BIT["a"]
HIDDEN = 1 << 60
SKIP = 1 << 61


def _tag_numbers() -> dict[str, int]:
    names = {*INLINE, *SKIPPED, *NAMED, *TAG_NAMES, "hr"} - {"head", "body", "html"}
    parser = LexborHTMLParser("<body><p>x<!--x-->")
    numbers = {name: parser.create_node(name).tag_id for name in sorted(names)}
    assert parser.root is not None
    return numbers | {str(node.tag): node.tag_id for node in parser.root.traverse(include_text=True)}


TAG_ID = _tag_numbers()
TEXT_ID, COMMENT_ID = TAG_ID["-text"], TAG_ID["-comment"]
OTHER_ID = max(TAG_ID.values()) + 1  # stands for all custom elements, which are plain block-level elements
TAG_SLOTS = OTHER_ID + 1
