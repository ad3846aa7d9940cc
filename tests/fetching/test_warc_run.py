"""`ccrawl refetch` with WARC files, a WACZ and an index: the second refetch refers to what the first one has."""

from __future__ import annotations

import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import Any

from support import warcs
from support.commands import ccrawl
from support.hostile import answer
from support.sites import serving


def inside(path: Path, name: str) -> bytes:
    with zipfile.ZipFile(path) as package:
        return package.read(name)


def refetched(tmp_path: Path, name: str, url: str, *options: object) -> None:
    (tmp_path / "list.txt").write_text(url + "\n")
    done = ccrawl(
        *("refetch", tmp_path / "list.txt", "--out", tmp_path / name, "--allow-private", "--ignore-robots"),
        *("--wacz", tmp_path / f"{name}.wacz", *options),
    )
    assert done.returncode == 0, done.stderr


def test_a_second_refetch_requires_the_package_of_the_first(tmp_path: Path) -> None:
    index = tmp_path / "index"
    with serving({"/1": answer(warcs.page(1)), "/2": answer(warcs.page(1))}) as site:
        refetched(tmp_path, "first", site.url("/1"))
        done = ccrawl("index", "import", tmp_path / "first.wacz", "--dedup-index", index, "--crawl", "jan")
        assert done.returncode == 0, done.stderr
        refetched(tmp_path, "second", site.url("/2"), "--dedup-index", index)
        first = site.url("/1")
    _, page = map(json.loads, inside(tmp_path / "first.wacz", "pages/pages.jsonl").splitlines())
    assert (page["url"], page["title"]) == (first, "Page 1")
    package: dict[str, Any] = json.loads(inside(tmp_path / "second.wacz", "datapackage.json"))
    (needed,) = package["relation"]["requires"]
    assert (needed["filename"], needed["crawlId"]) == ("first.wacz", "jan")
    (archive,) = (tmp_path / "second" / "warc").glob("*.warc.gz")
    revisit = gzip.decompress(archive.read_bytes()).decode("latin-1")
    assert f"WARC-Refers-To-Target-URI: {first}\r\n" in revisit
    (original,) = (tmp_path / "first" / "warc").glob("*.warc.gz")
    date = re.search(
        r"WARC-Type: response\r\n.*?WARC-Date: (\S{19})",
        gzip.decompress(original.read_bytes()).decode("latin-1"),
        re.DOTALL,
    )
    assert date and f"WARC-Refers-To-Date: {date[1]}Z\r\n" in revisit  # seconds, as a CDX has them
    assert ccrawl("check", tmp_path / "second.wacz").returncode == 0
