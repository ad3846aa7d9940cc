"""What the name of a file tells, before anything is opened: whether it is remote, and an archive."""

from __future__ import annotations

from ccrawl.errors import SourceError

WARC_SUFFIXES = tuple(
    f".{kind}{packed}"
    for kind in ("warc", "arc", "wet", "wat")
    for packed in ("", ".gz", ".zst", ".bz2", ".lz4")
)


def is_remote(path: str) -> bool:
    """Whether a path is a URL; file: URLs and plain paths aren't remote."""
    scheme, separator, _ = path.partition("://")
    return bool(separator) and scheme.replace("+", "").replace("-", "").isalnum() and scheme != "file"


def resolve(base_url: str, filename: str) -> str:
    """The path or URL of a file name of a crawl. SourceError for names that climb out of the base."""
    if is_remote(filename):
        return filename
    if filename.startswith("/") or ".." in filename.split("/"):
        raise SourceError(f"{filename[:200]}: a file name that lies outside its base")
    return f"{base_url.rstrip('/')}/{filename}"
