"""Tools that others use for web archives accept what a refetch writes: wacz, cdxj-indexer, warcio, pywb, surt.

They stand in an environment of their own, which scripts/setup-replay makes.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from support.exchanges import START, exchange, fetched, many, one

from ccrawl.archives import digest_of
from ccrawl.fetching.surt import surt
from ccrawl.fetching.types import Fetched
from ccrawl.fetching.wacz import write_wacz
from ccrawl.fetching.warc import WarcOptions, WarcOutput, earlier_in_index
from ccrawl.index import Original, Package

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".venv-replay" / "bin"
PAGE = b"<!doctype html><title>One</title><p>The tide table hangs beside the door of the harbour office."
ELSEWHERE = b"<!doctype html><title>Old</title><p>This stands in the package of an earlier crawl."
LIKE_CHUNKS = b"5\r\n<html>not chunks at all</html>\r\n0\r\n\r\n"


def tool(name: str, *arguments: object, cwd: Path | None = None) -> str:
    """Run a tool; returns what it says. Skips where the tools are not installed."""
    needed(name)
    done = subprocess.run(
        [TOOLS / name, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed(name: str) -> None:
    if not (TOOLS / name).exists():
        missing = f"no {name} in .venv-replay: scripts/setup-replay makes it"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)


@dataclass(frozen=True)
class Packages:
    """first: what an earlier crawl has; second: a refetch that repeats a page of it; warcs: of the second."""

    first: Path
    second: Path
    warcs: list[Path]


TARGETS: list[Fetched] = [
    one(0, "http://a.test/a", PAGE),
    one(1, "http://b.test/copy?z=1&A=2", PAGE, fields=["Content-Type: text/html", "X-Copy: yes"]),
    one(
        2,
        "http://a.test/chunked",
        LIKE_CHUNKS,
        fields=["Content-Type: text/html", "Transfer-Encoding: chunked"],
    ),
    one(
        3,
        "http://a.test/gz",
        gzip.compress(PAGE),
        fields=["Content-Type: text/html", "Content-Encoding: gzip"],
    ),
    fetched(
        4,
        exchange(
            "http://a.test/moved", b"gone", status="301 Moved", fields=["Location: /a"], at=START + 4000
        ),
        exchange("http://a.test/a", PAGE, at=START + 4100),
    ),
    one(5, "http://www.a.test/cut", b"<p>The first half", complete=False, error="timeout"),
    one(6, "http://a.test/empty", b""),
    one(7, "http://a.test/empty2", b""),
    one(8, "http://a.test/gone", PAGE, status="404 Not Found"),
]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    folder = tmp_path_factory.mktemp("packages")
    with WarcOutput(folder / "one", WarcOptions("first")) as output:
        output.write(one(0, "http://old.test/page", ELSEWHERE))
    first = write_wacz(output.files, folder / "first.wacz")
    original = Original("jan", 0, "20260921141320123", "http://old.test/page", 900)
    package = Package(first.path.name, first.sha256, first.bytes)
    with WarcOutput(folder / "two", WarcOptions("second", max_bytes=20_000)) as output:
        for target in [*TARGETS, *many(60)]:
            output.write(target)
        output.write(
            one(99, "http://new.test/", ELSEWHERE),
            earlier_in_index(original, digest_of(ELSEWHERE, "sha256"), package),
        )
    second = write_wacz(output.files, folder / "second.wacz", title="Again", requires=output.containers())
    assert len(output.files) > 1
    return Packages(first.path, second.path, output.files)


def test_warcio_finds_every_record_sound(packages: Packages) -> None:
    program = [sys.executable, "-m", "warcio.cli", "check", "-v", *map(str, packages.warcs)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout
    assert "failed" not in done.stdout


def test_wacz_validate_accepts_the_packages(packages: Packages) -> None:
    for path in (packages.first, packages.second):
        said = tool("wacz", "validate", "-f", path)
        assert "the passed WACZ is valid" in said


def test_the_index_is_that_of_cdxj_indexer(packages: Packages) -> None:
    with zipfile.ZipFile(packages.second) as package:
        ours = gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()
    theirs = tool("cdxj-indexer", "-s", *packages.warcs).splitlines()
    assert ours == theirs
    assert sum('"warc/revisit"' in line for line in ours) > 10


def test_surt_keys_are_those_of_the_reference(tmp_path: Path) -> None:
    hosts = [
        *("www.Example.com", "example.com:80", "EXAMPLE.com:8080", "www12.a.b.co.uk", "127.0.0.1:81"),
        *("bücher.example", "[2001:db8::1]:99", "a..b.example.", "user:pw@h.example:443", "www.www.x.org"),
    ]
    parts = [
        *"aAbZ09.-_~/?&=#%;:@!$'()*+,[]|^`{}<>\"\\éя",
        *(
            "%20",
            "%2F",
            "%25",
            "%2525",
            "%252541",
            "..",
            "./",
            "//",
            "sid=",
            "&",
            "a=",
            "x.aspx",
            "%E9",
            "%C3%A9",
        ),
        *("jsessionid=0123456789abcdefABCDEF0123456789", "PHPSESSID=0123456789abcdefABCDEF0123456789"),
        *("(S(0123456789abcdefghijklmn))/", "(0123456789abcdefghijklmn)/", "cfid=1&cftoken=2", " "),
        "ASPSESSIONIDabcdefgh=abcdefghijklmnopqrstuvwx",
    ]
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    urls = []
    for _ in range(5000):
        rest = "".join(chance.choice(parts) for _ in range(chance.randrange(9))).strip()
        urls.append(f"http{chance.choice(['', 's'])}://{chance.choice(hosts)}{chance.choice('/?')}{rest}")
    (tmp_path / "urls.json").write_text(json.dumps(urls))
    code = "import json, sys, surt; print(json.dumps([surt.surt(u) for u in json.load(open(sys.argv[1]))]))"
    expected = json.loads(tool("python", "-c", code, tmp_path / "urls.json"))
    different = [(url, surt(url), key) for url, key in zip(urls, expected, strict=True) if surt(url) != key]
    assert different == [], seed


@pytest.fixture(scope="module")
def replay(packages: Packages, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """pywb with both packages in one collection; its URL."""
    folder = tmp_path_factory.mktemp("pywb")
    tool("wb-manager", "init", "all", cwd=folder)
    for path in (packages.first, packages.second):
        tool("wb-manager", "add", "--unpack-wacz", "all", path, cwd=folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [TOOLS / "wayback", "-p", str(port), "-b", "127.0.0.1"], cwd=folder, stdout=log, stderr=log
        )
        try:
            deadline = time.monotonic() + 60
            while server.poll() is None and time.monotonic() < deadline:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            else:
                pytest.fail((folder / "log").read_text())
            yield f"http://127.0.0.1:{port}/all"
        finally:
            server.kill()
            server.wait()


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def replayed(replay: str, timestamp: str, url: str) -> tuple[int, dict[str, str], bytes]:
    """Status, fields and body that pywb gives for a capture, as it was archived."""
    opener = urllib.request.build_opener(_NoRedirects)
    try:
        with opener.open(f"{replay}/{timestamp}id_/{url}", timeout=30) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def test_pywb_replays_a_revisit_with_the_body_of_its_original(replay: str) -> None:
    status, fields, body = replayed(replay, "20260921141321", "http://b.test/copy?z=1&A=2")
    assert (status, body) == (200, PAGE)
    assert fields["x-archive-orig-x-copy" if "x-archive-orig-x-copy" in fields else "X-Copy"] == "yes"


def test_pywb_replays_a_revisit_whose_original_is_in_another_package(replay: str) -> None:
    status, _, body = replayed(replay, "20260921141459", "http://new.test/")
    assert (status, body) == (200, ELSEWHERE)


def test_pywb_replays_a_revisit_with_a_status_of_its_own(replay: str) -> None:
    status, _, body = replayed(replay, "20260921141328", "http://a.test/gone")
    assert (status, body) == (404, PAGE)


@pytest.mark.parametrize(
    ("timestamp", "url", "body"),
    [
        ("20260921141320", "http://a.test/a", PAGE),
        ("20260921141322", "http://a.test/chunked", LIKE_CHUNKS),
        ("20260921141325", "http://www.a.test/cut", b"<p>The first half"),
        ("20260921141326", "http://a.test/empty", b""),
        ("20260921141327", "http://a.test/empty2", b""),
    ],
)
def test_pywb_replays_what_came(replay: str, timestamp: str, url: str, body: bytes) -> None:
    status, _, replay_body = replayed(replay, timestamp, url)
    assert (status, replay_body) == (200, body)


def test_pywb_replays_a_compressed_body(replay: str) -> None:
    status, fields, body = replayed(replay, "20260921141323", "http://a.test/gz")
    coded = {name.lower(): value for name, value in fields.items()}.get("content-encoding") == "gzip"
    assert status == 200
    assert (gzip.decompress(body) if coded else body) == PAGE


def test_pywb_replays_a_redirect(replay: str) -> None:
    status, fields, _ = replayed(replay, "20260921141324", "http://a.test/moved")
    assert status == 301
    assert fields["Location"].endswith("/a")
