"""The HTML report: one file that trusts no page, and works in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

from ccrawl.duplicates import DedupOptions, dedup, html
from ccrawl.duplicates.html import render, write_html
from ccrawl.text.simhash import simhash
from tests.duplicates.datasets import Page, write

HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror='window.hacked=2'>\u2028<!--"
TEXT = "\n\n".join(
    f"Paragraph {n} tells of boat {n * 7} and of the lamp beside pier {n * 3}." for n in range(40)
)
CHANGED = TEXT.replace("boat 140", "ferry 140").replace("Paragraph 5 ", "Paragraph five ") + HOSTILE


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A near pair, three exact copies, and addresses that try to be markup or script."""
    pages = [
        Page("http://t.example/one", TEXT, simhash(TEXT)),
        Page("http://t.example/two?" + HOSTILE, CHANGED, simhash(CHANGED)),
        *[
            Page(url, "same " * 200, 99)
            for url in ("javascript:window.hacked=3", "http://t.example/b", "data:text/html,x")
        ],
    ]
    return write(tmp_path / "dataset" / "a.parquet", pages).parent


@pytest.fixture
def report_file(dataset: Path, tmp_path: Path) -> Path:
    write_html(dedup([dataset], options=DedupOptions(distance=12)), tmp_path / "r.html", [dataset])
    return tmp_path / "r.html"


def test_the_policy_allows_just_the_script_and_style_of_the_file(report_file: Path) -> None:
    page = report_file.read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    rules = dict(rule.split(" ", 1) for rule in policy[1].split("; "))
    assert rules["default-src"] == "'none'" and rules["base-uri"] == "'none'"
    for name, element in (("script-src", "script"), ("style-src", "style")):
        content = re.findall(rf"<{element}>(.*?)</{element}>", page, re.DOTALL)
        assert len(content) == 1
        digest = base64.b64encode(hashlib.sha256(content[0].encode()).digest()).decode()
        assert rules[name] == f"'sha256-{digest}'"
    assert not re.search(r"\b(src|style|on\w+)=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_nothing_from_pages_is_markup(report_file: Path) -> None:
    page = report_file.read_text()
    assert page.count("</script>") == 2
    assert "<img" not in page and "\u2028" not in page
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert data
    values = json.loads(data[1])
    assert HOSTILE in values["clusters"][1][5][1][0] or HOSTILE in values["clusters"][1][5][0][0]
    assert any(text.endswith(HOSTILE) for text in values["texts"]["2"])


def test_texts_are_bounded(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = dedup([dataset], options=DedupOptions(distance=12))
    monkeypatch.setattr(html, "TEXT_BYTES", 100)
    assert (
        TEXT[:100]
        in json.loads(re.findall(r'id="data">(.*?)</script>', render(report, [dataset]), re.DOTALL)[0])[
            "texts"
        ]["2"]
    )
    monkeypatch.setattr(html, "_ALL_TEXTS", 150)
    assert '"texts":{}' in render(report, [dataset])


def test_figures_count_every_cluster_and_copy(report_file: Path) -> None:
    page = report_file.read_text()
    assert "<title>2, near: 1</title>" in page and "<title>3, exact: 1</title>" in page


def test_a_report_without_clusters_is_a_page_too(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", [Page("u:1", TEXT, simhash(TEXT))])
    assert '"clusters":[]' in render(dedup([tmp_path]), [tmp_path])


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = which("chromium") or which("chromium-browser") or which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium here")
    with playwright.sync_playwright() as running:
        started = running.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


class Opened:
    """A page in the browser that remembers what went wrong and what it asked the network for."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.page = browser.new_page(viewport={"width": 1200, "height": 900})
        self.faults: list[str] = []
        self.asked: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())


def test_a_reader_can_search_sort_and_compare(browser: Any, report_file: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    opened = Opened(browser, report_file)
    page = opened.page
    rows = page.locator("#rows > tr")
    assert rows.count() == 2
    assert (
        "5 rows" not in page.locator("#summary").inner_text()
        and "5" in page.locator("#summary li").first.inner_text()
    )
    page.get_by_role("button", name="documents").click()
    assert rows.first.locator("td").nth(2).inner_text() == "3"
    page.get_by_role("button", name="documents").click()
    assert rows.first.locator("td").nth(2).inner_text() == "2"
    page.get_by_label("Search").fill("two?")
    playwright.expect(rows).to_have_count(1)
    rows.first.get_by_role("button").click()
    sides = page.locator(".sides")
    assert "ferry" in sides.inner_text() and "five" in sides.inner_text()
    assert {word for word in sides.locator("b").all_inner_texts() if word.strip()} >= {
        "ferry",
        "boat",
        "five",
        "5",
    }
    assert "equal lines" in sides.inner_text() and "Paragraph 30 " not in sides.inner_text()
    assert page.evaluate("window.hacked") is None
    assert opened.faults == [] and opened.asked == [report_file.as_uri()]
    page.close()


def test_only_web_addresses_are_links(browser: Any, report_file: Path) -> None:
    page = Opened(browser, report_file).page
    page.get_by_label("Kind").select_option("exact")
    page.locator("#rows button").first.click()
    links = page.locator(".detail a").evaluate_all("links => links.map(link => link.href)")
    assert links == ["http://t.example/b"]
    assert "javascript:window.hacked=3" in page.locator(".detail").inner_text()
    page.close()


@pytest.mark.slow
def test_a_hundred_thousand_clusters_are_usable(browser: Any, tmp_path: Path) -> None:
    count = 100_001
    pages = (Page(f"http://t.example/{side}/{n}", f"text {n}", n + 1) for n in range(count) for side in "ab")
    path = write(tmp_path / "a.parquet", pages)
    write_html(dedup([path]), tmp_path / "r.html", [path])
    playwright = pytest.importorskip("playwright.sync_api")
    opened = Opened(browser, tmp_path / "r.html")
    page = opened.page
    assert "100,001 clusters" in page.locator("#scope").inner_text()
    assert page.locator("#rows > tr").count() == 50
    start = page.evaluate("performance.now()")
    page.get_by_role("button", name="kept").click()
    page.get_by_label("Search").fill("a/777")
    playwright.expect(page.locator("#found")).to_have_text("111 clusters")
    assert page.evaluate("performance.now()") - start < 5000
    assert opened.faults == []
    page.close()
