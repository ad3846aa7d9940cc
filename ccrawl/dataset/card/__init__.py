"""`ccrawl.card`: a dataset's README for a dataset hub, every number of it read from the files.

    card(directory, options=CardOptions(...)) -> CardReport

manifest and files -> facts (facts.py, tally.py, dedup.py, estimate.py) -> pictures.py, front_matter.py,
sections.py (with numbers.py and commands.py) -> template.py -> README.md and assets/ (write.py). escape.py
stands between all text that is not ours and the card.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ccrawl.lazily import names_of

if TYPE_CHECKING:
    from ccrawl.dataset.card.options import CardOptions
    from ccrawl.dataset.card.template import DEFAULT as DEFAULT_TEMPLATE
    from ccrawl.dataset.card.write import CardReport, card, remembered_options

__all__ = ["DEFAULT_TEMPLATE", "CardOptions", "CardReport", "card", "remembered_options"]

__getattr__ = names_of(
    __name__,
    {
        "CardOptions": "options",
        "DEFAULT_TEMPLATE": "template:DEFAULT",
        "CardReport": "write",
        "card": "write",
        "remembered_options": "write",
    },
)
