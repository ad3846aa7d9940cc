"""The card: what hubs parse, what a person reads, and that each number is the files' own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml
from huggingface_hub import DatasetCard
from markdown_it import MarkdownIt
from support import datasets, warcs

import ccrawl
from ccrawl.dataset.card import CardOptions, card
from ccrawl.dataset.card.front_matter import size_category
from ccrawl.dataset.ledger import Counts
from ccrawl.dataset.schema import COLUMNS
from ccrawl.errors import OutputError, SourceError, UsageError
from ccrawl.html.markdown import RenderOptions
from ccrawl.html.options import ExtractOptions
from ccrawl.run.options import ExportOptions, Normalize

LANGUAGES = ["nor"] * 5 + ["oni"] * 4 + ["yor"] * 3 + ["eng"] * 2 + ["zh-Hant"] + [""]
OPTIONS = ExportOptions(crawl="TEST-2025-10", dedup_digest=True)


def rows(shard: int, number: int = 16) -> list[Any]:
    return [
        datasets.row(
            100 * shard + place,
            source=f"{shard}.warc.gz",
            url=f"http://host-{place % 5}.test/{shard}/{place}",
            crawl_date=f"{2019 + place % 3}-0{1 + place % 9}-11",
            language=LANGUAGES[place % len(LANGUAGES)],
            markdown=f"# {place}\n\n" + "The lamps are lit at noon. " * (1 + place**2) + f"{shard}\n",
        )
        for place in range(number)
    ]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    shards = {"0.warc.gz": rows(0), "1.warc.gz": rows(1), "empty.warc.gz": []}
    drops = {
        "duplicates": 3,
        "empty": 2,
        "skipped": {"revisit": 4, "status:404": 5},
        "failed": {"timeout": 1},
    }
    return datasets.write(tmp_path / "harbour", shards, options=OPTIONS, drops=drops)


def head(path: Path) -> Any:
    """The front matter, cut out as the hub does it and parsed by a YAML library."""
    text = path.read_text()
    assert text.startswith("---\n")
    return yaml.safe_load(text[4:].partition("\n---\n")[0])


def html(path: Path) -> str:
    body = path.read_text().partition("\n---\n")[2]
    return MarkdownIt("gfm-like", {"linkify": False}).render(body)


def tables(path: Path, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, tags taken out."""
    section = html(path).partition(f"<h2>{heading}</h2>")[2].partition("<h2>")[0]
    table = section.partition("<table>")[2].partition("</table>")[0]
    return [
        [re.sub(r"<[^>]+>", "", cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    ]


def number(text: str) -> int:
    return int(text.replace(",", ""))


def query(dataset: Path, sql: str) -> list[tuple[Any, ...]]:
    files = str(dataset / "data/*/*.parquet")
    return duckdb.execute(
        sql.replace("PAGES", "read_parquet(?, hive_partitioning = true)"), [files]
    ).fetchall()


def test_the_hub_reads_the_front_matter_as_meant(dataset: Path) -> None:
    options = CardOptions(name="harbour: notes #1 @ 50%", license="cc0-1.0")
    path = card(dataset, options=options).path
    values = head(path)
    assert values["language"] == ["no", "oni", "yo", "en", "zh-Hant"]  # not False, not an integer
    assert values["pretty_name"] == "harbour: notes #1 @ 50%"
    assert values["license"] == "cc0-1.0"
    assert "license_name" not in values
    assert values["size_categories"] == ["n<1K"]
    assert [config["config_name"] for config in values["configs"]] == ["default", "TEST-2025-10"]
    assert not [key for key, value in values.items() if value in ([], "", None)]
    loaded = DatasetCard.load(path)
    assert loaded.data.to_dict() == values
    assert loaded.text.lstrip().startswith("<!-- Written by ccrawl card")


def test_globs_of_every_configuration_match_its_files_and_nothing_else(dataset: Path) -> None:
    (dataset / "data/crawl=TEST-2025-10/.000009.parquet.1-0123abcd.tmp").write_bytes(b"")
    files = set(dataset.rglob("*.parquet"))
    for config in head(card(dataset).path)["configs"]:
        (data,) = config["data_files"]
        assert data["split"] == "train"
        assert set(dataset.glob(data["path"])) == files


@pytest.mark.parametrize(
    ("number", "category"),
    [
        (0, "n<1K"),
        (999, "n<1K"),
        (1000, "1K<n<10K"),
        (9999, "1K<n<10K"),
        (10**6, "1M<n<10M"),
        (10**12, "n>1T"),
    ],
)
def test_size_categories_are_the_hubs(number: int, category: str) -> None:
    assert size_category(number) == category


def test_a_dataset_without_rows_has_a_valid_card(tmp_path: Path) -> None:
    for shards in ({}, {"a.warc.gz": []}):
        path = card(datasets.write(tmp_path / str(len(shards)), shards)).path
        values = head(path)
        assert "language" not in values
        assert values["size_categories"] == ["n<1K"]
        assert DatasetCard.load(path).data.to_dict() == values
        assert "An example row" not in path.read_text()


def check_numbers(dataset: Path) -> None:
    """Hold every number of a card against a query over the files."""
    path = dataset / "README.md"
    ((count, hosts, languages, first, last, html_bytes, markdown_bytes),) = query(
        dataset,
        "select count(*), count(distinct host), count(distinct language) filter (language != ''), min(crawl_date), "
        "max(crawl_date), sum(html_length), sum(strlen(markdown)) from PAGES",
    )
    files = list(dataset.rglob("*.parquet"))
    parquet = sum(file.stat().st_size for file in files)
    glance = dict(tables(path, "At a glance"))
    assert number(glance["Rows"]) == count
    assert number(glance["Hosts"]) == hosts
    assert number(glance["Languages"]) == languages
    assert number(glance["Shards"]) == len(files)
    assert glance["Captured"] == (first if first == last else f"{first} to {last}")
    assert f"({markdown_bytes:,} bytes)" in glance["Markdown"]
    assert f"({parquet:,} bytes)" in glance["Parquet"]
    sizes = {name: (number(size), share) for name, size, _, share in tables(path, "Bytes")[1:]}
    assert sizes["HTML of the rows"] == (html_bytes, "100.0%")
    assert sizes["Markdown"] == (markdown_bytes, f"{markdown_bytes / html_bytes:.1%}")
    assert sizes["Parquet"] == (parquet, f"{parquet / html_bytes:.1%}")

    by_language = query(dataset, "select language, count(*) n from PAGES group by 1 order by n desc, 1")
    told = [(name, number(rows)) for name, rows, _ in tables(path, "Languages")[1:]]
    assert told[:15] == [(name or "too little text to tell", n) for name, n in by_language][:15]
    assert sum(n for _, n in told) == count

    by_host = query(dataset, "select host, count(*) n from PAGES group by 1 order by n desc, 1 limit 15")
    assert [(host, number(rows)) for host, rows, _ in tables(path, "Hosts")[1:]] == by_host

    by_year = query(dataset, "select crawl_date[:4], count(*) from PAGES group by 1 order by 1")
    told_by_year = [(year, number(rows)) for year, rows in tables(path, "Years")[1:]]
    assert told_by_year == (by_year if len(by_year) > 1 else [])

    (spread,) = query(
        dataset,
        "select min(n), quantile_disc(n, 0.1), quantile_disc(n, 0.5), quantile_disc(n, 0.9), max(n), round(avg(n)) "
        "from (select markdown_length n from PAGES)",
    )
    assert [number(cell) for cell in tables(path, "Lengths")[1][1:]] == list(map(int, spread))

    splits = {
        name: [number(cell) for cell in cells[1:3]] for name, *cells in tables(path, "Files and splits")[1:]
    }
    by_crawl = query(dataset, "select crawl, count(*), count(distinct warc_filename) from PAGES group by 1")
    assert splits.pop("default") == [count, len(files)]
    assert {crawl: rows for crawl, (rows, _) in splits.items()} == {
        crawl: rows for crawl, rows, _ in by_crawl
    }

    classes = query(
        dataset,
        "select pow(2, floor(log2(markdown_length)))::int low, count(*) n from PAGES group by 1 order by 1",
    )
    bounds = {f"{low // 1024}k" if low >= 1024 else str(low): f"{n:,}" for low, n in classes}
    lengths = drawn(dataset / "assets/lengths.svg")
    assert {name: n for name, n in lengths.items() if n != "0"} == bounds
    drops = [number(records) for _, records, _ in tables(path, "From records to rows")[1:]]
    records = re.search(r"([\d,]+) records read", path.read_text())
    assert records is not None
    assert sum(drops) + count == number(records[1])


def test_every_number_is_what_a_query_over_the_files_gives(dataset: Path) -> None:
    path = card(dataset).path
    check_numbers(dataset)
    assert number(dict(tables(path, "At a glance"))["Rows"]) == 32
    assert tables(path, "Bytes")[1][:2] == ["archives, as stored", "15,000"]


SHARED = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"


@pytest.mark.shared
@pytest.mark.slow
@pytest.mark.skipif(not SHARED.exists(), reason="the shared data is not here")
def test_every_number_of_a_card_of_real_pages_is_true(tmp_path: Path) -> None:
    sources = sorted(SHARED.glob("shard-*.warc.gz"))
    ccrawl.export(sources, tmp_path / "shared", options=replace(OPTIONS, crawl="CC-MAIN-2025-08"), workers=2)
    report, clusters = dedup_files(tmp_path / "shared", tmp_path)
    path = card(tmp_path / "shared", options=CardOptions(dedup_report=report, clusters=clusters)).path
    check_numbers(tmp_path / "shared")
    assert DatasetCard.load(path).data.to_dict() == head(path)


def test_drops_and_rows_add_up_to_the_records(dataset: Path) -> None:
    path = card(dataset).path
    drops = {cause: number(records) for cause, records, _ in tables(path, "From records to rows")[1:]}
    assert drops == {
        "HTTP status 404": 15,
        "revisit record": 12,
        "copy of an earlier page of its shard": 9,
        "set aside: timeout": 3,
        "no text": 6,
    }
    assert sum(drops.values()) + 32 == number(re.search(r"([\d,]+) records read", path.read_text())[1])  # type: ignore[index]
    assert "9 pages byte-identical" in path.read_text()


def drawn(path: Path) -> dict[str, str]:
    """A picture's bars in words, from its description."""
    root = ElementTree.parse(path).getroot()
    described = root.find("{http://www.w3.org/2000/svg}desc")
    assert described is not None
    assert described.text is not None
    return dict(part.rsplit(": ", 1) for part in described.text.split("; "))  # type: ignore[misc]


def test_pictures_show_the_same_numbers(dataset: Path) -> None:
    report = card(dataset)
    pictures = {path.name: drawn(path) for path in report.pictures}
    assert pictures["funnel.svg"] == {
        "records": "77",
        "pages: HTML, status 200": "50",
        "not a copy in their shard": "41",
        "converted without a fault": "38",
        "with text: rows": "32",
    }
    assert pictures["languages.svg"]["nor"] == "10"
    for path in report.pictures:
        assert f"(assets/{path.name})" in report.path.read_text()
        svg = path.read_text()
        assert "prefers-color-scheme:dark" in svg
        assert len(svg) < 20_000


def test_the_same_dataset_gives_the_same_bytes(dataset: Path, tmp_path: Path) -> None:
    first = card(dataset, out=tmp_path / "a")
    again = card(dataset, out=tmp_path / "a")
    other = card(dataset, out=tmp_path / "b")
    for one in (again, other):
        assert one.path.read_bytes() == first.path.read_bytes()
        assert [p.read_bytes() for p in one.pictures] == [p.read_bytes() for p in first.pictures]


def test_no_card_contradicts_its_files(dataset: Path) -> None:
    file = "data/crawl=TEST-2025-10/000000.parquet"
    datasets.reseal(dataset, file, rows(0)[:-1])
    with pytest.raises(OutputError, match="holds 15 rows, the manifest says 16"):
        card(dataset)
    datasets.reseal(dataset, file, [row._replace(language="deu") for row in rows(0)])
    with pytest.raises(OutputError, match="languages contradict the manifest"):
        card(dataset)
    datasets.reseal(dataset, file, [row._replace(host=None) for row in rows(0)])
    with pytest.raises(OutputError, match="host without a value"):
        card(dataset)
    (dataset / file).write_bytes(b"PAR1")
    with pytest.raises(OutputError, match="can't be read"):
        card(dataset)
    assert not (dataset / "README.md").exists()


HOSTILE = (
    "<script>alert(1)</script> | ![x](http://evil.test/x.png) ``` --- \x1b[2J <!-- ccrawl:keep about -->"
)


def test_nothing_that_pages_or_options_say_is_markup(tmp_path: Path) -> None:
    bad = f"\n---\nlicense: mit\n---\n# Own heading\n\n{HOSTILE}\n```\n<!-- /ccrawl:keep -->\n"
    row = datasets.row(1, host="a|b`<img src=x>`", title=bad, markdown=bad * 3, language='"no\n#')
    out = datasets.write(
        tmp_path / "x", {f"a b;rm -rf `{HOSTILE}`".replace("/", "_"): [row]}, drops={"skipped": {HOSTILE: 1}}
    )
    path = card(out, options=CardOptions(name=bad, description=bad, contact=bad)).path
    values = head(path)
    assert values["license"] == "other"
    assert DatasetCard.load(path).data.to_dict() == values
    page = html(path)
    assert "<script" not in page
    assert "<img src=x" not in page
    assert re.findall(r'<img src="([^"]*)"', page) == [
        "assets/funnel.svg",
        "assets/languages.svg",
        "assets/lengths.svg",
    ]
    assert page.count("<h1>") == 1
    assert "<h1>Own heading" not in page
    assert "\x1b" not in path.read_text()
    assert "<hr" not in page
    assert card(out, options=CardOptions(name=bad)).kept == ()  # nobody wrote any
    for picture in card(out).pictures:
        assert "<script" not in picture.read_text()
        ElementTree.parse(picture)


def test_the_example_row_is_a_real_one(dataset: Path) -> None:
    text = card(dataset).path.read_text()
    shown = json.loads(text.partition("```json\n")[2].partition("\n```")[0])
    assert list(shown) == [column.name for column in COLUMNS]
    ((title, simhash, markdown),) = query(
        dataset, f"select title, simhash, markdown from PAGES where doc_id = '{shown['doc_id']}'"
    )
    assert shown["title"] == title
    assert shown["simhash"] == simhash
    assert markdown.startswith(shown["markdown"].removesuffix("…"))


def test_columns_are_described_by_the_schema(dataset: Path) -> None:
    told = tables(card(dataset).path, "Columns")[1:]
    assert [name for name, _, _ in told] == [column.name for column in COLUMNS]
    assert all(meaning for _, _, meaning in told)


def test_what_a_person_wrote_between_the_lines_stays(dataset: Path) -> None:
    path = card(dataset).path
    text = path.read_text()
    text = text.replace(
        "<!-- ccrawl:keep about -->\n",
        "<!-- ccrawl:keep about -->\nMy own words, `{{ load }}` and all.\n\n- one\n",
    )
    text = text.replace(
        "# ccrawl:keep yaml\n", '# ccrawl:keep yaml\nlicense: "odc-by"\nextra_gated_prompt: "Please ask."\n'
    )
    path.write_text(text.replace("## At a glance", "## Changed outside"))
    report = card(dataset)
    again = report.path.read_text()
    assert "My own words, `{{ load }}` and all.\n\n- one\n<!-- /ccrawl:keep -->" in again
    assert "Changed outside" not in again
    values = head(path)
    assert values["license"] == "odc-by"
    assert again.count("\nlicense:") == 1  # theirs, not ours beside it
    assert "license_name" in values
    assert values["extra_gated_prompt"] == "Please ask."
    assert card(dataset).path.read_text() == again


def test_what_a_card_says_holds_until_something_else_is_said(dataset: Path) -> None:
    from ccrawl.cli.card import command

    name = "A --> B <!-- ccrawl:keep about --> \N{SNOWMAN}"
    command(dataset, name=name, license="odc-by", contact="me@x.test")
    first = (dataset / "README.md").read_text()
    card(dataset)  # as an export does when it ends
    assert (dataset / "README.md").read_text() == first
    command(dataset, license="other", license_name="mine", repo="org/name")
    values = head(dataset / "README.md")
    assert (values["license"], values["license_name"], values["pretty_name"]) == ("other", "mine", name)
    assert 'load_dataset("org/name"' in (dataset / "README.md").read_text()
    (line,) = [line for line in first.splitlines() if "ccrawl:options" in line]
    assert line.index("-->") == len(line) - 3  # a name can't end the comment
    assert line.count("<!--") == 1
    command(dataset, license="odc-by")
    assert "license_name" not in head(dataset / "README.md")
    command(dataset, license="other")
    assert head(dataset / "README.md")["license_name"] == "terms-of-the-sources"
    command(dataset, overwrite=True)
    assert head(dataset / "README.md")["pretty_name"] == "harbour"


@pytest.mark.parametrize(
    "line", ["{]", '{"license": "nonsense"}', '{"repo": "../x"}', '{"name": 3}', "[" * 9999 + "{}"]
)
def test_options_that_were_changed_into_nonsense_are_not_taken(dataset: Path, line: str) -> None:
    path = card(dataset).path
    path.write_text(path.read_text().replace("# harbour", f"<!-- ccrawl:options {line} -->\n# harbour"))
    assert head(card(dataset).path)["license"] == "other"


def test_kept_text_whose_place_is_gone_is_not_lost(dataset: Path, tmp_path: Path) -> None:
    path = card(dataset).path
    path.write_text(
        path.read_text().replace(
            "<!-- ccrawl:keep limits -->\n", "<!-- ccrawl:keep limits -->\nMind the gap.\n"
        )
    )
    template = tmp_path / "t.md"
    template.write_text("{{ front_matter }}\n# Mine: {{ name }}\n\n{{ languages }}\n")
    for _ in range(2):
        text = card(dataset, options=CardOptions(template=template)).path.read_text()
        assert text.count("Mind the gap.") == 1
    assert "# Mine: harbour" in text
    assert "## Hosts" not in text


def test_a_readme_of_someone_else_is_left_alone(dataset: Path) -> None:
    (dataset / "README.md").write_text("# I wrote this\n")
    with pytest.raises(OutputError, match="left alone"):
        card(dataset)
    assert (dataset / "README.md").read_text() == "# I wrote this\n"
    card(dataset, overwrite=True)
    path = dataset / "README.md"
    path.write_text(path.read_text().replace("<!-- /ccrawl:keep -->", "", 1))
    with pytest.raises(OutputError, match="keep line"):
        card(dataset)


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("# No head\n", "first line must be"),
        ("{{ front_matter }}\n{{ nonsense }}\n", "no section 'nonsense'; there are front_matter, name"),
    ],
)
def test_a_template_that_can_not_work_is_refused(
    dataset: Path, tmp_path: Path, template: str, told: str
) -> None:
    path = tmp_path / "t.md"
    path.write_text(template)
    with pytest.raises(UsageError, match=told):
        card(dataset, options=CardOptions(template=path))


def test_licences_and_repositories_are_checked() -> None:
    with pytest.raises(UsageError, match="hubs know no licence"):
        CardOptions(license="cc-zero")
    for repo in ("name", "a/b/c", "../x", "a/..", "o/a b"):
        with pytest.raises(UsageError, match="no repository"):
            CardOptions(repo=repo)


def dedup_files(dataset: Path, folder: Path) -> tuple[Path, Path]:
    from ccrawl.duplicates import dedup, output

    report = dedup([str(dataset)])
    output.write_clusters(report, folder / "clusters.parquet")
    (folder / "dedup.json").write_text(json.dumps(output.as_json(report, 5)))
    return folder / "dedup.json", folder / "clusters.parquet"


@pytest.fixture
def repetitive(tmp_path: Path) -> Path:
    """Two copies of one text, and a third that differs in a word, among texts that have nothing in common."""
    texts = [" ".join(f"word{place * 997 + n * n * place}" for n in range(400)) for place in range(1, 6)]
    near = texts[0].replace(texts[0].split()[200], "changed")
    same = [datasets.row(n, markdown=text + "\n") for n, text in enumerate([*texts, texts[0], near])]
    return datasets.write(tmp_path / "repetitive", {"a.warc.gz": same})


def test_duplicates_are_those_that_dedup_found(repetitive: Path, tmp_path: Path) -> None:
    report, clusters = dedup_files(repetitive, tmp_path)
    found = json.loads(report.read_text())
    assert (found["exact_duplicates"], found["near_duplicates"]) == (1, 1)
    made = card(repetitive, options=CardOptions(dedup_report=report, clusters=clusters))
    exact, near, together = tables(made.path, "Duplicates")[1:]
    assert exact[1:] == ["1", "14.3%", "1", f"{found['exact_bytes']:,}"]
    assert near[1:] == ["1", "14.3%", "1", f"{found['near_bytes']:,}"]
    assert together[1:3] == ["2", "28.6%"]
    by_distance = duckdb.execute(
        "select distance, count(*) from read_parquet(?) where kind = 'near' and role = 'duplicate' group by 1",
        [str(clusters)],
    ).fetchall()
    bars = drawn(made.path.parent / "assets/distances.svg")
    assert {int(bits): int(n) for bits, n in bars.items() if n != "0"} == dict(by_distance)


def test_a_report_on_another_dataset_is_refused(repetitive: Path, dataset: Path, tmp_path: Path) -> None:
    report, clusters = dedup_files(repetitive, tmp_path)
    with pytest.raises(UsageError, match="is about 7 rows"):
        card(dataset, options=CardOptions(dedup_report=report))
    with pytest.raises(UsageError, match="--dedup"):
        card(repetitive, options=CardOptions(clusters=clusters))
    for content in ("", "[]", '{"rows": 7}', "[" * 100_000):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(SourceError, match="not a report"):
            card(repetitive, options=CardOptions(dedup_report=tmp_path / "bad.json"))


def test_an_estimate_scales_the_mean_and_says_that_it_is_one(tmp_path: Path) -> None:
    shards = {str(n): rows(n, 10 * (n + 1)) for n in range(3)}  # 10, 20, 30 rows
    report = card(datasets.write(tmp_path / "x", shards), options=CardOptions(estimate_total=300))
    estimated = {one.name: one for one in report.estimates}
    assert estimated["rows"].total == 300 * 20
    # Variance 100, so one standard error is 300 * sqrt(100 / 3 * (1 - 3/300)) = 1723.4 rows.
    assert estimated["rows"].margin == 3447
    text = report.path.read_text()
    assert "These are estimates, not counts." in text
    assert ["rows (estimate)", "≈ 6,000", "± 3,450"] in tables(report.path, "Estimate for the whole crawl")
    assert number(dict(tables(report.path, "At a glance"))["Rows"]) == 60  # what is there stays what it is


def test_an_estimate_of_all_shards_has_no_error_and_of_one_no_margin(tmp_path: Path) -> None:
    two = datasets.write(tmp_path / "two", {"a": rows(0), "b": rows(1, 3)})
    (rows_estimate,) = [
        one for one in card(two, options=CardOptions(estimate_total=2)).estimates if one.name == "rows"
    ]
    assert (rows_estimate.total, rows_estimate.margin) == (19, 0)
    one = datasets.write(tmp_path / "one", {"a": rows(0)})
    assert {e.margin for e in card(one, options=CardOptions(estimate_total=9)).estimates} == {None}
    with pytest.raises(UsageError, match="2 shards already"):
        card(two, options=CardOptions(estimate_total=1))


def snippet(path: Path, title: str) -> str:
    section = path.read_text().partition("## How to load it")[2]
    return section.partition(f"\n{title}:\n\n```python\n")[2].partition("\n```")[0]


def run(code: str, folder: Path) -> str:
    """Run a snippet where the dataset's folder is, as whoever copies it would; warnings are theirs."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
        env={
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "HF_HOME": str(folder / "hf"),
            "HF_HUB_OFFLINE": "1",
        },
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    ("title", "shown"),
    [("DuckDB", "nor"), ("Polars", "host-0.test"), ("pandas", "http://host-0.test/0/0")],
)
def test_a_snippet_runs_as_it_stands(dataset: Path, title: str, shown: str) -> None:
    assert shown in run(snippet(card(dataset).path, title), dataset.parent)


@pytest.mark.slow
@pytest.mark.parametrize(("title", "shown"), [("datasets", "num_rows: 32"), ("Spark", "TEST-2025-10")])
def test_a_snippet_of_a_slow_reader_runs_as_it_stands(dataset: Path, title: str, shown: str) -> None:
    output = run(snippet(card(dataset).path, title), dataset.parent)
    assert shown in output
    if title == "Spark":
        assert re.search(r"TEST-2025-10\|\s*nor\|\s*10\|", output)


def test_snippets_of_a_published_dataset_load_from_the_hub(dataset: Path) -> None:
    text = card(dataset, options=CardOptions(repo="org/harbour")).path.read_text()
    assert 'load_dataset("org/harbour", split="train")' in text
    assert '"hf://datasets/org/harbour/data/*/*.parquet"' in text
    assert "./harbour" not in text
    for title in ("datasets", "DuckDB", "Polars", "pandas", "Spark"):
        compile(snippet(dataset / "README.md", title), title, "exec")


def test_the_command_in_the_card_makes_the_same_bytes(tmp_path: Path) -> None:
    for shard in range(2):
        warcs.write(tmp_path / f"a b{shard}.warc.gz", [warcs.response(10 * shard + n) for n in range(6)])
    options = ExportOptions(
        crawl="T-1", dedup_digest=True, languages=("deu", "eng"), limit=4, max_page_bytes=99_999
    )
    out = tmp_path / "first" / "out"
    ccrawl.export(tmp_path, out, options=options, workers=1)
    text = card(out).path.read_text()
    command = (
        text.partition("```sh\n")[2]
        .partition("\n```")[0]
        .replace("ccrawl ", f"{sys.executable} -m ccrawl ", 1)
    )
    done = subprocess.run(
        ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    made = {path.name: path.read_bytes() for path in (tmp_path / "out").rglob("*.parquet")}
    assert made == {path.name: path.read_bytes() for path in out.rglob("*.parquet")}
    assert len(made) == 2


@pytest.mark.parametrize(
    ("sources", "read"),
    [
        ({0: "a b.warc.gz", 1: "c.warc.gz"}, "'a b.warc.gz' c.warc.gz"),
        ({n: f"{n}.warc.gz" for n in range(7)}, "SOURCE..."),
        ({n: f"crawl-data/T-1/{n}.warc.gz" for n in (0, 1, 2, 7, 9, 10)}, "--shards 0-2,7,9-10"),
        ({2 * n: f"crawl-data/T-1/{n}.warc.gz" for n in range(13)}, "--shards NUMBERS"),
        ({0: "locations-000000"}, "--locations LOCATIONS"),
    ],
)
def test_the_command_reads_what_the_export_read(tmp_path: Path, sources: dict[int, str], read: str) -> None:
    options = ExportOptions(
        crawl="T-1",
        dedup_index=True,
        dedup_normalize=Normalize("norm-00", (r"Seen \d+ times",)),
        extract=ExtractOptions(favor="recall", render=RenderOptions(links="drop")),
    )
    shards: dict[str, list[Any]] = {name: [] for name in sources.values()}
    out = datasets.write(tmp_path / "out", shards, options=options, numbers=list(sources))
    text = card(out).path.read_text()
    assert (
        f"\nccrawl export {read} --out out --favor recall --links drop --dedup-index INDEX "
        "--dedup-normalize RULES --crawl T-1\n" in text
    )
    assert "| `extract.render.links` | `drop` |" in text


def test_several_crawls_have_a_configuration_and_a_command_each(tmp_path: Path) -> None:
    from ccrawl.dataset.merge import merge

    for crawl in ("A-1", "default"):
        datasets.write(tmp_path / crawl, {f"{crawl}.warc.gz": rows(0)}, options=replace(OPTIONS, crawl=crawl))
    out = tmp_path / "both"
    merge([tmp_path / "A-1", tmp_path / "default"], out)
    path = card(out).path
    configs = {config["config_name"]: config["data_files"][0]["path"] for config in head(path)["configs"]}
    assert configs == {
        "default": "data/*/*.parquet",
        "A-1": "data/crawl=A-1/*.parquet",
        "crawl=default": "data/crawl=default/*.parquet",
    }
    commands = path.read_text().partition("```sh\n")[2].partition("\n```")[0].splitlines()
    assert [line.split("--crawl ")[1] for line in commands] == ["A-1", "default"]


def test_the_command_prints_where_and_what(dataset: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ccrawl.cli.card import command

    command(dataset, license="odc-by")
    assert f"wrote {dataset / 'README.md'} and 3 pictures" in capsys.readouterr().out
    command(dataset, as_json=True)
    values = json.loads(capsys.readouterr().out)
    assert values["facts"]["rows"] == 32
    assert values["facts"]["counts"]["duplicates"] == 9
    assert Counts(**values["facts"]["counts"]).pages == 50
    command(show_template=True)
    assert capsys.readouterr().out.startswith("{{ front_matter }}\n# {{ name }}\n")
    with pytest.raises(UsageError):
        command()
