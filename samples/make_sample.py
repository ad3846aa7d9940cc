"""Make samples/sample.warc.gz: a small archive in the shape of Common Crawl's, with the oddities of real ones.

    python samples/make_sample.py [OUT.warc.gz]

Needs the standard library only. The same script writes the same records each time; the same zlib writes the
same bytes. Every text was written for this project (samples/pages); hosts end in .example, which no
one can own (RFC 2606).
"""

from __future__ import annotations

import base64
import hashlib
import struct
import sys
import uuid
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from chrome import PHRASES, STYLES, document  # noqa: E402

START = datetime(2024, 4, 2, 6, 0, 0, tzinfo=timezone.utc)  # noqa: UP017
NAMESPACE = uuid.UUID("5b0f5d0e-7f0a-4f6e-9d5a-1c2f0a9b8e11")
SITE_STYLES = {
    **{"driftwood": "blog", "werkstatt": "blog", "chaguan": "blog", "galley": "blog", "cucina": "blog"},
    **{"lampctl": "docs", "chandlery": "shop", "boatforum": "old", "kafedra": "old", "nikki": "old"},
    **{"plain": "bare", "app": "bare", "parish": "bare"},
}
# Labels of pages and the Python codecs that write what browsers read under them.
CODECS = {
    **{
        "gb2312": "gb18030",
        "shift_jis": "cp932",
        "euc-kr": "cp949",
        "tis-620": "cp874",
        "iso-8859-1": "cp1252",
    },
    **{"big5": "big5", "euc-jp": "euc_jp"},
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page of samples/pages: what its head says, and the content."""

    name: str
    fields: dict[str, str]
    content: str

    @property
    def url(self) -> str:
        return f"https://www.{self.fields['site']}.example{self.fields['path']}"

    def html(self) -> bytes:
        fields = self.fields
        language = "zh-Hant" if self.name.startswith("zh-hant") else self.name.split("-")[0]
        charset = fields.get("charset", "utf-8")
        head = ""
        if fields.get("label", "both") in ("meta", "both"):
            head += f'<meta charset="{charset}"/>'
        head += f"<title>{fields['title']}</title>"
        if "description" in fields:
            head += f'<meta name="description" content="{fields["description"]}"/>'
        if "json-ld" in fields:
            head += f'<script type="application/ld+json">{fields["json-ld"]}</script>'
        style = STYLES[SITE_STYLES.get(fields["site"], "news")]
        body = self.content or fields["body"]
        xhtml = "xhtml" in fields.get("type", "")
        whole = document(head, style(body, PHRASES[language]), language, fields.get("dir", ""), xhtml=xhtml)
        return whole.encode(CODECS.get(charset, charset), "xmlcharrefreplace")

    def media_type(self) -> str:
        media_type = self.fields.get("type", "text/html")
        if self.fields.get("label", "both") in ("header", "both"):
            media_type += f"; charset={self.fields.get('charset', 'utf-8')}"
        return media_type


def read_pages() -> dict[str, Page]:
    """The pages by name, in the order of their names."""
    pages = {}
    for path in sorted((HERE / "pages").glob("*.html")):
        head, _, content = path.read_text(encoding="utf-8").partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        pages[path.stem] = Page(path.stem, fields, content.strip())
    return pages


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and its response, as the crawler saw them."""

    url: str
    body: bytes
    status: str = "200 OK"
    media_type: str | None = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    sent: bytes | None = None
    """The body as it came over the wire, when it was coded."""

    def response(self) -> bytes:
        lines = [
            f"HTTP/1.1 {self.status}",
            "Server: sample",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        if self.media_type is not None:
            lines.append(f"Content-Type: {self.media_type}")
        body = self.body if self.sent is None else self.sent
        if "Transfer-Encoding" not in dict(self.headers):
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + body

    def request(self) -> bytes:
        host, _, path = self.url.removeprefix("https://").partition("/")
        return f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: sample-crawler\r\nAccept: */*\r\n\r\n".encode()


@dataclass(slots=True)
class Archive:
    """The records written so far, one gzip member each."""

    members: list[bytes] = field(default_factory=list)
    exchanges: int = 0

    def date(self) -> str:
        return (START + timedelta(seconds=7 * self.exchanges)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def record(self, kind: str, headers: list[tuple[str, str]], block: bytes) -> bytes:
        """A record in WARC/1.0 (ISO 28500), without compression."""
        identity = uuid.uuid5(NAMESPACE, f"{kind} {len(self.members)}")
        lines = [
            ("WARC-Type", kind),
            ("WARC-Date", self.date()),
            ("WARC-Record-ID", f"<urn:uuid:{identity}>"),
        ]
        lines += [*headers, ("Content-Length", str(len(block)))]
        head = "".join(f"{name}: {value}\r\n" for name, value in lines)
        return b"WARC/1.0\r\n" + head.encode() + b"\r\n" + block + b"\r\n\r\n"

    def add(self, kind: str, headers: list[tuple[str, str]], block: bytes) -> None:
        self.members.append(gzip_member(self.record(kind, headers, block)))

    def add_exchange(self, exchange: Exchange) -> None:
        """Request, response and metadata, as Common Crawl's crawler writes them."""
        self.exchanges += 1
        target = ("WARC-Target-URI", exchange.url)
        address = ("WARC-IP-Address", "192.0.2.7")
        http = "application/http; msgtype="
        self.add("request", [target, address, ("Content-Type", http + "request")], exchange.request())
        block = exchange.response()
        digests = [
            ("WARC-Payload-Digest", digest(exchange.body if exchange.sent is None else exchange.sent)),
            ("WARC-Block-Digest", digest(block)),
        ]
        self.add("response", [target, address, *digests, ("Content-Type", http + "response")], block)
        metadata = f"fetchTimeMs: {80 + 13 * self.exchanges % 400}\r\n".encode()
        self.add("metadata", [target, ("Content-Type", "application/warc-fields")], metadata)

    def add_revisit(self, exchange: Exchange) -> None:
        """The same payload seen again: a record that holds the HTTP head alone."""
        self.exchanges += 1
        head = exchange.response().partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        headers = [
            ("WARC-Target-URI", exchange.url),
            ("WARC-Profile", "http://netpreserve.org/warc/1.0/revisit/identical-payload-digest"),
            ("WARC-Refers-To-Target-URI", exchange.url),
            ("WARC-Payload-Digest", digest(exchange.body)),
            ("Content-Type", "application/http; msgtype=response"),
        ]
        self.add("revisit", headers, head)

    def damage_last_response(self) -> None:
        """Overwrite the middle of the last response's compressed data, as a bad disk would."""
        member = self.members[-2]
        middle = len(member) // 2
        self.members[-2] = member[:middle] + b"\x55" * 48 + member[middle + 48 :]


def gzip_member(record: bytes) -> bytes:
    """One gzip member without a time or a name in its head."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    deflated = compressor.compress(record) + compressor.flush()
    head = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    return head + deflated + struct.pack("<II", zlib.crc32(record), len(record))


def digest(block: bytes) -> str:
    return "sha1:" + base64.b32encode(hashlib.sha1(block).digest()).decode()


def chunked(body: bytes, size: int = 700) -> bytes:
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def pdf(text: str) -> bytes:
    """A one-page PDF that says one line, with a correct cross-reference table."""
    stream = f"BT /F1 18 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table + trailer


def exchange_of(page: Page) -> Exchange:
    return Exchange(page.url, page.html(), media_type=page.media_type())


# The same page on another host, with a few words changed: near duplicates, not exact ones.
NEAR = {
    "en-article": (("second week of April", "third week of April"),),
    "de-article": (("rudert der Bäcker selbst", "rudert der Bäcker selber"),),
    "ru-article": (("полгорода", "половина города"), ("оркестр", "школьный оркестр")),
    "zh-article": (("一百四十级", "一百五十级"),),
    "en-docs": (("41 lamps updated", "38 lamps updated"), ("handy when there are many", "useful with many")),
}


def near_duplicate(page: Page) -> Exchange:
    content = page.content
    for old, new in NEAR[page.name]:
        assert old in content, f"{page.name}: no {old!r}"
        content = content.replace(old, new)
    fields = page.fields | {"site": "mirror-of-" + page.fields["site"]}
    exchange = exchange_of(replace(page, content=content))
    return replace(exchange, url=replace(page, fields=fields).url)


def coded_exchanges(pages: dict[str, Page]) -> Iterator[Exchange]:
    """Bodies that came compressed, in chunks, or not as their headers say."""
    gzipped = gzip_member(pages["en-faq"].html())
    yield replace(
        exchange_of(pages["en-faq"]),
        headers=(("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked")),
        sent=chunked(gzipped),
    )
    yield replace(
        exchange_of(pages["it-recipe"]),
        headers=(("Content-Encoding", "deflate"),),
        sent=zlib.compress(pages["it-recipe"].html(), 9),
    )
    yield replace(exchange_of(pages["nl-article"]), headers=(("Content-Encoding", "gzip"),))


def other_exchanges() -> Iterator[Exchange]:
    """What a crawl brings home beside pages."""
    www = "https://www.tidewater.example"
    yield Exchange(
        f"{www}/2024/03/lamps", b"", "301 Moved Permanently", headers=(("Location", "/2024/03/lamps-out"),)
    )
    missing = b"<!DOCTYPE html><title>Not found</title><h1>Not found</h1><p>There is no such page, or no longer.</p>"
    yield Exchange(f"{www}/2019/old-story", missing, "404 Not Found")
    yield Exchange(f"{www}/files/timetable.pdf", pdf("Ferry timetable, summer"), media_type="application/pdf")
    pixel = base64.b64decode("R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=")
    yield Exchange(f"{www}/img/dot.gif", pixel, media_type="image/gif")
    yield Exchange(f"{www}/robots.txt", b"User-agent: *\nDisallow: /basket\n", media_type="text/plain")
    yield Exchange(f"{www}/empty.html", b"")
    frames = b'<html><head><title>Frames</title></head><frameset cols="20%,80%"><frame src="a.html"></frameset></html>'
    yield Exchange("https://www.plain.example/frames.html", frames)


def make_archive() -> bytes:
    """The whole archive; see README.md for what stands in it and why."""
    pages = read_pages()
    archive = Archive()
    info = b"software: ccrawl samples/make_sample.py\r\nformat: WARC File Format 1.0\r\nisPartOf: CC-MAIN-SAMPLE\r\n"
    archive.add(
        "warcinfo", [("WARC-Filename", "sample.warc.gz"), ("Content-Type", "application/warc-fields")], info
    )
    coded = list(coded_exchanges(pages))
    coded_urls = {exchange.url for exchange in coded}
    others = list(other_exchanges())
    plain = [exchange for page in pages.values() if (exchange := exchange_of(page)).url not in coded_urls]
    for number, exchange in enumerate(plain):
        archive.add_exchange(exchange)
        if number % 5 == 4 and others:
            archive.add_exchange(others.pop(0))
        if number == len(plain) // 2:
            # In the middle: a page whose record can't be read, between two that can.
            lost = exchange_of(pages["en-blog"])
            archive.add_exchange(replace(lost, url="https://www.driftwood.example/posts/damaged.html"))
            archive.damage_last_response()
    for exchange in [*others, *coded]:
        archive.add_exchange(exchange)
    for name, url in (
        ("en-article", "https://www.tidewater.example/2024/03/lamps-out?utm_source=letter"),
        ("en-recipe", "https://galley.example/recipes/fish-soup-with-fennel"),
        ("de-blog", "https://werkstatt.example/?p=112"),
        ("ja-article", "https://minato.example/kiji/ryoushi.html"),
    ):
        archive.add_exchange(replace(exchange_of(pages[name]), url=url))
    for name in NEAR:
        archive.add_exchange(near_duplicate(pages[name]))
    archive.add_revisit(exchange_of(pages["en-article"]))
    archive.add_exchange(
        replace(exchange_of(pages["en-short"]), url="https://www.plain.example/untyped", media_type=None)
    )
    return b"".join(archive.members)


def main() -> None:
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "sample.warc.gz"
    out.write_bytes(make_archive())
    print(f"{out}: {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
