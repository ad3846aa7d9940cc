"""The pages that weights are fitted on, with their gold, as features and labels.

Corpora are the .jsonl.gz files of the evaluation directory ({"id", "url", "html", "gold"}); see labels.py
for how gold becomes labels. What is read here is cached outside the repository, since it takes a minute and
is large.
"""

from __future__ import annotations

import dataclasses
import gzip
import hashlib
import json
import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import labels
import numpy as np

from ccrawl.html.content import read_page
from ccrawl.html.content.features import FIGURE_SCALES, Evidence, gather, scaled, unpack_flags
from ccrawl.html.content.tags import TAG_ID, TEXT_ID
from ccrawl.html.content.walk import Walk, arrays_of
from ccrawl.html.decode import decode
from ccrawl.html.tree import parse

FITTED_ON = ("types", "chunks", "bignews", "chinese")  # licences that allow it; see NOTICE
SCORED_ONLY = ("news-5langs", "cleaneval", "markdown")
FOLDS = 5
# Second-level labels under which sites are registered, for the country domains of the corpora.
_SHARED_SUFFIXES = {"co", "com", "org", "net", "gov", "edu", "ac", "gob", "or", "ne", "go", "gv"}


@dataclass(slots=True)
class Sample:
    """One page: features, labels and what scoring needs."""

    corpus: str
    url: str
    kind: str
    gold: dict[str, Any]
    walk: Walk  # without its tree, which is not kept
    evidence: Evidence
    share: np.ndarray  # of each block, how much is gold
    weight: np.ndarray
    blocks: list[str]

    def features(self) -> np.ndarray:
        """FEATURES of each block (blocks x features)."""
        figures = scaled(self.evidence.matrix, FIGURE_SCALES)
        return np.concatenate([figures, unpack_flags(self.evidence.flags)]).T


def site(url: str) -> str:
    """The registered domain of `url`, near enough for keeping a site's pages together."""
    labels_ = (urlsplit(url).hostname or url).split(".")
    if len(labels_) > 2 and labels_[-2] in _SHARED_SUFFIXES and len(labels_[-1]) == 2:
        return ".".join(labels_[-3:])
    name = ".".join(labels_[-2:])
    # Hosts that are not sites (a corpus without URLs) are told apart by the whole URL.
    return url if name.endswith(".invalid") else name


def fold_of(url: str) -> int:
    """The fold that a page's site belongs to, 0 to FOLDS - 1."""
    return int(hashlib.sha1(site(url).encode(), usedforsecurity=False).hexdigest(), 16) % FOLDS


def read_corpus(path: Path) -> Iterator[dict[str, Any]]:
    """The pages of one corpus, html as bytes."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            page["html"] = page["html"].encode("latin-1")
            yield page


def samples(directory: Path, corpora: tuple[str, ...], cache: Path) -> list[Sample]:
    """Features and labels of `corpora`, from the cache where they are in it."""
    result: list[Sample] = []
    for name in corpora:
        stored = cache / f"{name}.pickle"
        if not stored.exists():
            cache.mkdir(parents=True, exist_ok=True)
            made = [
                sample
                for page in read_corpus(directory / "pages" / f"{name}.jsonl.gz")
                for sample in _sample(name, page)
            ]
            stored.write_bytes(pickle.dumps(made, -1))
        result += map(_located, pickle.loads(stored.read_bytes()))
    return result


def _located(sample: Sample) -> Sample:
    """`sample` with its arrays where they are now."""
    flat = sample.walk
    arrays = arrays_of(flat.node_rows, flat.text_rows, flat.block_rows)
    return dataclasses.replace(sample, walk=dataclasses.replace(flat, arrays=arrays))


def _sample(corpus: str, page: dict[str, Any]) -> Iterator[Sample]:
    tree = parse(decode(page["html"], None).utf8)
    flat, head, title, _ = read_page(tree)
    if flat is None or not flat.blocks:
        return
    # One page in eight is shown without its URL, so that the model can do without.
    url = page["url"]
    hashed = int(hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest(), 16)
    evidence = gather(flat, head, None if hashed % 8 == 0 else url, title)
    blocks = _spaced_blocks(flat)
    gold = page["gold"]
    find = labels.snippet_labels(blocks, gold) if "with" in gold else labels.text_labels(blocks, gold["text"])
    alone = dataclasses.replace(flat, root=None, arrays=None)
    yield Sample(corpus, url, page.get("type", "other"), gold, alone, evidence, *find, blocks)


def _spaced_blocks(flat: Walk) -> list[str]:
    """The words of each block with the white space that stands between them on the page."""
    numbers = {place: text for text, place in enumerate(flat.n_address[flat.t_node].tolist())}
    texts = flat.texts()
    gap = [False] * len(texts)
    last = -1
    for node in flat.root.traverse(include_text=True):
        if node.tag_id == TEXT_ID:
            number = numbers.get(node.mem_id)
            if number is not None:
                last = number
            elif last >= 0:
                gap[last] = True
        elif node.tag_id == TAG_ID["br"] and last >= 0:
            gap[last] = True
    blocks = [""] * len(flat.b_first)
    for text, block, spaced in zip(texts, flat.t_block.tolist(), gap, strict=True):
        blocks[block] += text + (" " if spaced else "")
    return blocks
