"""Servers for the tests: HTTP that misbehaves on demand, and S3 by moto."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server(ThreadingHTTPServer):
    """Serves `files` by path; `behave` changes how. Requests are kept as (path, Range)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.drop_every = 0  # bytes after which a response breaks off
        self.ignore_ranges = False
        self.refuse = 0  # answer so many requests with 503
        self.extra_length = 0  # added to Content-Length
        self.tags: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    server: Server

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        server = self.server
        path = self.path.partition("?")[0]
        asked = self.headers.get("Range", "")
        server.requests.append((path, asked))
        if server.refuse:
            server.refuse -= 1
            self.send_response(503)
            self.send_header("Retry-After", "0")
            self.end_headers()
            return
        body = server.files.get(path)
        if body is None:
            self.send_error(404)
            return
        start = 0
        if asked and not server.ignore_ranges:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, total = int(first), len(body)
            body = body[: int(last) + 1] if last else body
            if start >= len(body):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(body)}")
                self.end_headers()
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{total}")
        else:
            self.send_response(200)
        if server.tags:
            self.send_header("ETag", server.tags.pop(0))
        self.send_header("Content-Length", str(len(body) - start + server.extra_length))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(body[start : start + server.drop_every] if server.drop_every else body[start:])


@contextlib.contextmanager
def running_s3(bucket: str = "mirror") -> Iterator[tuple[str, Any]]:
    """An S3 server with one bucket: its endpoint, and a client to fill it with."""
    import boto3
    import s3fs
    from moto.server import ThreadedMotoServer

    running = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    running.start()
    try:
        host, port = running.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        client = boto3.client(
            "s3",
            endpoint_url=endpoint,
            region_name="us-east-1",
            aws_access_key_id="a",
            aws_secret_access_key="b",
        )
        client.create_bucket(Bucket=bucket)
        s3fs.S3FileSystem.clear_instance_cache()  # an instance keeps the endpoint it was made for
        yield endpoint, client
    finally:
        running.stop()
