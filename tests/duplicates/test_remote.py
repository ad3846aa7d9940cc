"""Datasets behind HTTP, from a server on this machine."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ccrawl.duplicates import dedup
from ccrawl.errors import SourceError
from tests.duplicates.datasets import page, write

pytest.importorskip("aiohttp")


class Server(ThreadingHTTPServer):
    """Serves `files`, in ranges where `ranges`; `sent` counts the bytes of bodies."""

    daemon_threads = True

    def __init__(self, ranges: bool) -> None:
        self.files: dict[str, bytes] = {}
        self.ranges = ranges
        self.sent = 0
        super().__init__(("127.0.0.1", 0), Handler)

    def handle_error(self, *_: object) -> None:
        """A client that hangs up on us is no fault."""

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{name}"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.answer(body=False)

    def do_GET(self) -> None:
        self.answer(body=True)

    def answer(self, body: bool) -> None:
        server: Any = self.server
        content = server.files.get(self.path.lstrip("/"))
        if content is None:
            self.send_response(404)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", "")) if server.ranges else None
        start, end = (int(wanted[1]), int(wanted[2] or len(content) - 1) + 1) if wanted else (0, len(content))
        part = content[start:end]
        self.send_response(206 if wanted else 200)
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{start + len(part) - 1}/{len(content)}")
        if server.ranges:
            self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if body:
            server.sent += len(part)
            self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(params=[True, False], ids=["ranges", "no ranges"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    with Server(request.param) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def test_a_file_behind_http_is_read_in_the_columns_that_count(server: Server, tmp_path: Path) -> None:
    local = write(
        tmp_path / "a.parquet",
        [page(str(n), 2000, 5 if n < 2 else n * 0x9E3779B97F4A7C15 & (2**64 - 1)) for n in range(500)],
    )
    noise = pa.array([bytes(str(n * 7919), "ascii") * 900 for n in range(500)])
    pq.write_table(pq.read_table(local).append_column("html", noise), local, compression="none")
    server.files["data.parquet"] = local.read_bytes()
    if not server.ranges:
        with pytest.raises(SourceError, match="range requests"):
            dedup([server.url("data.parquet")])
        return
    report = dedup([server.url("data.parquet")])
    assert (report.rows, report.near_clusters) == (500, 1)
    assert report.clusters[0].members[0].file == server.url("data.parquet")
    assert server.sent < len(server.files["data.parquet"]) / 2


def test_a_file_that_is_not_there_is_one_error(server: Server) -> None:
    with pytest.raises(SourceError, match=r"gone\.parquet"):
        dedup([server.url("gone.parquet")])
