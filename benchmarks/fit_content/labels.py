"""What the gold says about each block: the share of its words that belong to the main content.

Gold is the whole text of a page or snippets that must and must not be there (see the evaluation's README).
A text is aligned with the page's blocks by 4-grams of words: a word of the page is gold when some 4-gram
around it, across block borders, occurs in the gold; a short block is gold, too, when it equals a line of
the gold.
"""

from __future__ import annotations

import collections
import re
from typing import Any

import numpy as np

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]|[^\W_]+")
SPACE = re.compile(r"\s+")
N = 4
SNIPPET = 0.22  # the weight of a snippet; a page has about six, and the text of a page weighs one or two


def words_of(text: str) -> list[str]:
    """The words of `text` as the scorer counts them."""
    return WORD.findall(text.lower())


def ngrams(words: list[str]) -> collections.Counter[tuple[str, ...]]:
    """4-grams with counts; all of a shorter text."""
    if len(words) < N:
        return collections.Counter([tuple(words)] if words else [])
    return collections.Counter(zip(*(words[i:] for i in range(N)), strict=False))


def text_labels(blocks: list[str], gold: str) -> tuple[np.ndarray, np.ndarray]:
    """(share of each block that is gold, weight of each block) for a gold text."""
    tokens = [words_of(block) for block in blocks]
    flat = [word for words in tokens for word in words]
    gold_words = words_of(gold)
    left = ngrams(gold_words)
    hit = np.zeros(len(flat), bool)
    for start in range(len(flat) - N + 1):
        gram = tuple(flat[start : start + N])
        if left.get(gram, 0) > 0:
            left[gram] -= 1
            hit[start : start + N] = True
    lines = collections.Counter(tuple(words_of(line)) for line in gold.splitlines())
    share = np.zeros(len(blocks))
    weight = np.zeros(len(blocks))
    position = 0
    total = max(len(gold_words), 20)
    for index, words in enumerate(tokens):
        count = len(words)
        if count:
            inside = hit[position : position + count]
            share[index] = inside.mean()
            if count < N and not inside.all():
                key = tuple(words)
                share[index] = 1.0 if lines.get(key, 0) > 0 else share[index] if count > 1 else 0.0
                lines[key] -= 1
            weight[index] = min(count / total, 1.0)
        position += count
    weight *= min(1.0, 4.0 / max(weight.sum(), 1e-9))
    weight += 0.05 / max(len(blocks), 1)
    return share, weight


def snippet_labels(blocks: list[str], gold: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """The same for snippets: blocks that hold none have weight 0."""
    share = np.zeros(len(blocks))
    weight = np.zeros(len(blocks))
    texts = [SPACE.sub(" ", block).strip() for block in blocks]
    for key, value in (("without", 0.0), ("with", 1.0)):
        for chunk in gold[key]:
            wanted = SPACE.sub(" ", chunk).strip()
            if not wanted:
                continue
            holders = [index for index, text in enumerate(texts) if wanted in text]
            for index in holders:
                share[index] = value
                weight[index] = SNIPPET
    return share, weight
