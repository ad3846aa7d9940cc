"""`ccrawl convert`, as it is called."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from ccrawl.cli.convert import command, read_page
from ccrawl.errors import SourceError, UsageError

app = typer.Typer()
app.command()(command)

PARAGRAPH = "The harbour wall was rebuilt in the spring, and the boats came back to it one by one. " * 4
HTML = f'<title>T</title><body><nav><a href="/">Home</a></nav><article><h1>Harbour</h1><p>{PARAGRAPH} <a href="map">Map</a></p></article>'


def convert(*arguments: str, stdin: bytes = b"") -> str:
    result = CliRunner().invoke(app, list(arguments), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_a_file_becomes_markdown(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(HTML)
    markdown = convert(str(page), "--base-url", "https://example.org/dir/")
    assert "harbour wall" in markdown
    assert "[Map](https://example.org/dir/map)" in markdown
    assert markdown.endswith("\n") and not markdown.endswith("\n\n")


def test_stdin_and_the_options_of_the_renderer() -> None:
    html = b'<h1>Title</h1><p><a href="/x">a</a> <img src="/i" alt="b"></p>'
    raw = ("-", "--extractor", "raw", "--base-url", "https://example.org/")
    assert convert(*raw, stdin=html) == "# Title\n\n[a](https://example.org/x) ![b](https://example.org/i)\n"
    assert (
        convert(*raw, "--links", "drop", "--images", "alt", "--headings", "setext", stdin=html)
        == "Title\n===\n\na b\n"
    )
    assert (
        convert(*raw, "--links", "reference", "--images", "drop", stdin=html)
        == "# Title\n\n[a][1]\n\n[1]: https://example.org/x\n"
    )


def test_an_encoding_can_be_given() -> None:
    html = "<p>Гавань</p>".encode("koi8-r")
    assert convert("-", "--extractor", "raw", "--encoding", "koi8-r", stdin=html) == "Гавань\n"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("-", "--encoding", "klingon"), UsageError),
        (("-", "--extractor", "best"), UsageError),
        (("ftp://t.example/x",), UsageError),
        (("/no/such/file.html",), SourceError),
        (("http://127.0.0.1:1/",), SourceError),
    ],
)
def test_what_can_not_be_done_is_said_in_one_line(arguments: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error) as raised:
        convert(*arguments, stdin=b"<p>x</p>")
    assert str(raised.value) and "\n" not in str(raised.value)


def test_a_page_without_text_prints_nothing_on_stdout() -> None:
    assert convert("-", stdin=b"<script>x</script>") == ""


def test_explain_says_on_stderr_what_was_removed(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text(HTML)
    result = CliRunner().invoke(app, [str(page), "--explain"])
    assert "harbour wall" in result.stdout
    assert "removed" not in result.stdout
    assert "text from html" in result.stderr


@pytest.fixture
def server() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/old":
                self.send_response(302)
                self.send_header("Location", "/new/")
                self.end_headers()
            elif self.path == "/new/":
                self.send_response(200)
                self.send_header("Content-Type", "text/html; charset=windows-1251")
                self.end_headers()
                self.wfile.write('<p>Гавань <a href="x">a</a></p>'.encode("windows-1251"))
            else:
                self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_url_is_fetched_and_its_links_resolved_where_it_ended(server: str) -> None:
    assert convert(f"{server}/old", "--extractor", "raw") == f"Гавань [a]({server}/new/x)\n"


def test_a_server_error_is_said(server: str) -> None:
    with pytest.raises(SourceError, match="404"):
        read_page(f"{server}/none")


def test_output_is_utf_8_whatever_the_locale(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>Гавань</p>", encoding="utf-8")
    code = f"from ccrawl.cli.convert import command; command({str(page)!r}, extractor='raw')"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, env={"LC_ALL": "C", "PYTHONUTF8": "0"}, check=True
    )
    assert result.stdout.decode() == "Гавань\n"
