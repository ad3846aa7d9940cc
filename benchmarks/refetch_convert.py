"""The part of benchmarks/refetch.py about conversion: beside the fetch, against the converter alone.

    benchmarks/refetch_convert.py               3,000 pages, those of the sample over and over
    benchmarks/refetch_convert.py --pages N

A process serves the pages on 200 loopback addresses; `ccrawl.refetch` fetches all and converts them in one
process. Figures:
  alone       pages a second that one process converts, which has them in memory
  beside      pages a second that the refetch has converted, from its first fetch to its last page
  ratio       beside over alone (wanted: at least 0.85; needs three idle cores: server, fetch, converter)
  cpu         processor seconds a page, alone over beside: the part that does not depend on idle cores
  fetch       pages a second that were fetched meanwhile, over those of the same command with --fetch-only
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import ccrawl  # noqa: E402
from ccrawl.fetching.options import RefetchOptions  # noqa: E402
from ccrawl.fetching.pages import text_of  # noqa: E402
from ccrawl.fetching.run import RefetchReport  # noqa: E402
from ccrawl.fetching.types import FetchOptions  # noqa: E402
from ccrawl.run.options import ExportOptions  # noqa: E402

HOSTS = 200
OPTIONS = ExportOptions()


def bodies() -> list[bytes]:
    return [capture.payload() for capture in ccrawl.read_captures(ROOT / "samples" / "sample.warc.gz")]


def serve(ready: Connection) -> None:
    """Page N of the sample under /N, for good; tells the port."""
    pages = bodies()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:  # the client has all it wants
                writer.close()
                return
            path = head.split(b" ", 2)[1][1:]
            found = path.isdigit()
            body = pages[int(path) % len(pages)] if found else b""
            status = b"200 OK" if found else b"404 Not Found"
            writer.write(
                b"HTTP/1.1 %b\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%b"
                % (status, len(body), body)
            )

    async def run() -> None:
        server = await asyncio.start_server(answer, "0.0.0.0", 0, backlog=1024)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.get_event_loop_policy().new_event_loop().run_until_complete(run())


def alone(count: int) -> tuple[float, float]:
    """Wall-clock and processor seconds to convert so many pages here."""
    pages = bodies()
    text_of(pages[0], "http://a.test/", "text/html", OPTIONS)
    wall, cpu = time.perf_counter(), time.process_time()
    for number in range(count):
        text_of(pages[number % len(pages)], f"http://a.test/{number}", "text/html", OPTIONS)
    return time.perf_counter() - wall, time.process_time() - cpu


def refetch(urls: Path, out: Path, *, fetch_only: bool) -> tuple[RefetchReport, float]:
    """The report, and seconds from the start of the fetch to the last page converted."""
    options = RefetchOptions(
        fetch=FetchOptions(allow_private=True, rate=0, per_host=4), pages=OPTIONS, fetch_only=fetch_only
    )
    report = ccrawl.refetch(urls, out, options=options, workers=1, card=False)
    phases = report.phases
    return report, report.seconds - phases["plan"] - phases["write"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pages", type=int, default=3000)
    report(parser.parse_args().pages)


def report(count: int) -> None:
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    with tempfile.TemporaryDirectory() as folder:
        urls = Path(folder) / "urls.txt"
        urls.write_text(
            "\n".join(f"http://127.0.0.{number % HOSTS + 1}:{port}/{number}" for number in range(count))
        )
        fetched, _ = refetch(urls, Path(folder) / "fetched", fetch_only=True)
        converted, seconds = refetch(urls, Path(folder) / "converted", fetch_only=False)
    server.terminate()
    wall, cpu = alone(count)
    assert converted.counts.rows == count and not converted.failed
    print(f"alone   {count / wall:8.1f} pages/s  {cpu / count * 1000:.2f} ms a page")
    converting = converted.phases["convert"]
    both, only = converted.pages_per_second, fetched.pages_per_second
    print(f"beside  {count / seconds:8.1f} pages/s  {converting / count * 1000:.2f} ms a page")
    print(f"ratio   {wall / seconds:8.2f}")
    print(f"cpu     {cpu / converting:8.2f}")
    print(f"fetch   {both / only:8.2f}  ({both:,.0f} and {only:,.0f} pages/s)")


if __name__ == "__main__":
    main()
