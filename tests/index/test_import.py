"""What other tools have captured, taken into the index: formats, policies, identity, hostile files."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import warcs

from ccrawl.errors import SourceError, UsageError
from ccrawl.index import Counts, DedupIndex, open_index
from ccrawl.index.cdx import key_of_text, lines_of, read_cdx
from ccrawl.index.collect import Collector, ImportPolicy
from ccrawl.index.importer import import_sources

EMPTY_SHA256 = hashlib.sha256(b"").hexdigest()


def sha256(number: int) -> str:
    return hashlib.sha256(b"payload %d" % number).hexdigest()


def line(number: int, **changes: Any) -> str:
    """A CDXJ line as Browsertrix writes it, for the payload `number`."""
    record = {
        "url": f"http://site.test/{number}",
        "mime": "text/html",
        "status": "200",
        "digest": sha256(number),
        "length": str(2000 + number),
        "offset": "0",
        "filename": "a.warc.gz",
    } | changes
    record = {name: value for name, value in record.items() if value is not None}
    return f"test,site)/{number} 20250304050607 {json.dumps(record)}"


def cdxj(path: Path, lines: Iterable[str]) -> Path:
    text = "".join(f"{one}\n" for one in lines).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def wacz(path: Path, lines: Iterable[str], member: str = "indexes/index.cdxj") -> Path:
    text = "".join(f"{one}\n" for one in lines).encode()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, gzip.compress(text) if member.endswith(".gz") else text)
    return path


def originals(location: DedupIndex, *texts: str) -> list[str | None]:
    """The URLs that digests are found under by a run that begins now."""
    run = f"look-{len(location.crawls())}"
    location.begin(run)
    view = location.view(run)
    keys = [key_of_text(text) for text in texts]
    assert None not in keys
    found = [one.url if one else None for one in view.find([key for key in keys if key])]
    view.close()
    location.cancel(run)
    return found


@pytest.mark.parametrize("name", ["index.cdxj", "index.cdx", "index.cdxj.gz", "index.cdx.gz"])
def test_cdxj_in_every_wrapping(tmp_path: Path, index: DedupIndex, name: str) -> None:
    source = cdxj(tmp_path / name, [line(1), line(2)])
    report = import_sources(index, [str(source)])
    assert (report.packages, report.records) == (1, 2)
    assert originals(index, sha256(1), sha256(2), sha256(3)) == [
        "http://site.test/1",
        "http://site.test/2",
        None,
    ]
    assert index.verify() == []


def test_digests_are_read_in_every_spelling_and_kept_apart_by_algorithm() -> None:
    raw1, raw256 = hashlib.sha1(b"x").digest(), hashlib.sha256(b"x").digest()
    sha1 = b"\x02" + raw1
    base32 = base64.b32encode(raw1).decode()
    for text in (base32, f"sha1:{base32}", f"sha1:{raw1.hex()}", raw1.hex(), f"SHA-1:{base32}"):
        assert key_of_text(text) == sha1, text
    for text in (raw256.hex(), f"sha256:{raw256.hex()}", f"sha-256:{base64.b32encode(raw256).decode()}"):
        assert key_of_text(text) == b"\x04" + raw256, text
    for text in ("", "-", "sha1:", "sha1:_____", "z" * 64, "crc32:00000000"):
        assert key_of_text(text) is None, text


def test_common_crawl_lines_go_under_sha1(tmp_path: Path) -> None:
    digest = base64.b32encode(hashlib.sha1(b"x").digest()).decode()
    source = cdxj(tmp_path / "cdx-00000.gz.cdx", [line(1, digest=digest, languages="eng", charset="UTF-8")])
    with open_index(str(tmp_path / "index")) as index:
        import_sources(index, [str(source)])
        assert originals(index, f"sha1:{digest}", hashlib.sha1(b"y").hexdigest()) == [
            "http://site.test/1",
            None,
        ]


def test_redis_leaves_other_digests_out(tmp_path: Path, redis_url: str) -> None:
    digest = base64.b32encode(hashlib.sha1(b"x").digest()).decode()
    source = cdxj(tmp_path / "a.cdxj", [line(1, digest=digest), line(2)])
    with open_index(redis_url) as index:
        report = import_sources(index, [str(source)])
        assert (report.records, report.skipped) == (1, {"other-digest": 1})
        assert index.stats().unique == 1


def test_cdx_with_columns(tmp_path: Path, index: DedupIndex) -> None:
    header = " CDX N b a m s k r M S V g"
    eleven = f"test,site)/1 20250304050607 http://site.test/1 text/html 200 sha256:{sha256(1)} - - 512 0 a.gz"
    odd = " CDX b k a s"
    four = f"20250304050607 sha256:{sha256(2)} http://site.test/2 200"
    for name, lines in {
        "with-header.cdx": [header, eleven],
        "without.cdx": [eleven.replace("/1", "/3").replace(sha256(1), sha256(3))],
        "odd.cdx": [odd, four],
    }.items():
        import_sources(index, [str(cdxj(tmp_path / name, lines))])
    assert originals(index, sha256(1), sha256(2), sha256(3)) == [f"http://site.test/{n}" for n in (1, 2, 3)]


def test_a_zipnum_index_stands_for_the_compressed_files_it_points_into(
    tmp_path: Path, index: DedupIndex
) -> None:
    members = [gzip.compress(f"{line(n)}\n".encode()) for n in (1, 2)]
    (tmp_path / "cdx-00000.gz").write_bytes(b"".join(members))
    (tmp_path / "cluster.idx").write_text(
        f"test,site)/1 20250304050607\tcdx-00000.gz\t0\t{len(members[0])}\t1\n"
        f"test,site)/2 20250304050607\tcdx-00000.gz\t{len(members[0])}\t{len(members[1])}\t2\n"
    )
    assert import_sources(index, [str(tmp_path / "cluster.idx")]).records == 2
    assert originals(index, sha256(2)) == ["http://site.test/2"]
    (tmp_path / "climbs.idx").write_text("a 1\t../../secret.gz\t0\t10\t1\n")
    with pytest.raises(SourceError, match="outside"):
        import_sources(index, [str(tmp_path / "climbs.idx")])


def test_records_that_are_no_captures_are_counted_by_cause(tmp_path: Path, index: DedupIndex) -> None:
    lines = [
        line(1),
        line(2, status="404"),
        line(3, url="urn:pageinfo:http://site.test/"),
        line(4, digest="sha1:____"),
        line(5, digest=EMPTY_SHA256),
        line(6, url=None),
        "no json at all",
        "test,site)/ 20250304050607 {broken",
        f"test,site)/ 20250304050607 {'[' * 100_000}",
        'test,site)/ 20250304050607 {"url": 5, "digest": "x"}',
    ]
    report = import_sources(index, [str(cdxj(tmp_path / "a.cdxj", lines))])
    assert report.records == 1
    assert report.skipped == {"empty": 1, "malformed": 5, "no-digest": 1, "not-http": 1, "status:404": 1}
    assert index.stats().counts.total == 1


def test_policies_choose_statuses_and_media_types(tmp_path: Path, index: DedupIndex) -> None:
    lines = [
        line(1),
        line(2, status="404"),
        line(3, mime="image/png"),
        line(4, status="404", mime="image/png"),
    ]
    for name, policy, unique in (
        ("default", ImportPolicy(), 2),
        ("any", ImportPolicy(statuses=None), 4),
        ("html", ImportPolicy(media_types=frozenset({"text/html"})), 1),
    ):
        import_sources(index, [str(cdxj(tmp_path / f"{name}.cdxj", lines))], crawl=name, policy=policy)
        assert next(crawl for crawl in index.crawls() if crawl.id == name).counts.total == unique


def test_revisits_are_duplicates_and_no_originals(tmp_path: Path, index: DedupIndex) -> None:
    source = cdxj(
        tmp_path / "a.cdxj",
        [line(1, length="3000"), line(1, mime="warc/revisit", length="600"), line(9, mime="warc/revisit")],
    )
    import_sources(index, [str(source)])
    assert index.stats().counts == Counts(3, 2, 2400, source.stat().st_size)
    assert originals(index, sha256(9)) == [None]


def test_a_wacz_is_known_by_its_name_and_hash(tmp_path: Path, index: DedupIndex) -> None:
    source = wacz(tmp_path / "one.wacz", [line(1)], "indexes/index.cdx.gz")
    import_sources(index, [str(source)], crawl="crawl-1")
    [crawl] = index.crawls()
    [package] = crawl.packages
    assert (crawl.id, package.filename) == ("crawl-1", "one.wacz")
    assert (package.hash, package.size) == (
        hashlib.sha256(source.read_bytes()).hexdigest(),
        source.stat().st_size,
    )
    again = import_sources(index, [str(source)], crawl="crawl-1")
    assert (again.packages, again.known) == (0, 1)
    wacz(source, [line(1), line(2)])
    impostor = import_sources(index, [str(source)], crawl="crawl-1")
    assert len(impostor.failed) == 1
    assert "another file of this name" in impostor.failed[0]


def test_a_wacz_without_an_index_is_read_by_its_records(tmp_path: Path, index: DedupIndex) -> None:
    page = warcs.page(1)
    records = b"".join(gzip.compress(one) for one in [warcs.response(1, body=page)])
    with zipfile.ZipFile(tmp_path / "bare.wacz", "w") as archive:
        archive.writestr("archive/data.warc.gz", records)
    import_sources(index, [str(tmp_path / "bare.wacz")])
    assert index.stats().unique == 1


def test_a_manifest_names_crawls_and_may_name_manifests(tmp_path: Path, index: DedupIndex) -> None:
    wacz(tmp_path / "a.wacz", [line(1)])
    wacz(tmp_path / "b.wacz", [line(2)])
    (tmp_path / "inner.json").write_text(
        json.dumps({"resources": [{"name": "b.wacz", "path": "b.wacz"}, {"path": "inner.json"}]})
    )
    (tmp_path / "outer.json").write_text(
        json.dumps(
            {
                "resources": [
                    {"name": "a.wacz", "path": "a.wacz", "crawlId": "first"},
                    {"name": "inner", "path": "inner.json"},
                    {"name": "gone.wacz", "path": "gone.wacz", "crawlId": "gone"},
                ]
            }
        )
    )
    report = import_sources(index, [str(tmp_path / "outer.json")], crawl="other")
    assert {crawl.id: crawl.packages[0].filename for crawl in index.crawls()} == {
        "first": "a.wacz",
        "other": "b.wacz",
    }
    assert len(report.failed) == 1
    assert "gone.wacz" in report.failed[0]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"resources": 5}', '{"resources": [5]}', "[" * 100_000])
def test_a_manifest_that_is_none_is_one_clear_error(tmp_path: Path, index: DedupIndex, text: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(SourceError, match=r"bad\.json: not a manifest"):
        import_sources(index, [str(tmp_path / "bad.json")])


def test_warc_records_are_hashed_where_they_carry_no_usable_digest(tmp_path: Path, index: DedupIndex) -> None:
    page = warcs.page(1)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(page), page)
    source = warcs.write(
        tmp_path / "a.warc.gz",
        [
            warcs.response(1, body=page),
            warcs.response(2, body=warcs.page(2), digest=False),
            warcs.record(
                warcs.http(chunked, headers=["Transfer-Encoding: chunked"]), url="http://site.test/chunked"
            ),
            warcs.record(warcs.http(b"gone", status="404 Not Found"), url="http://site.test/gone"),
        ],
    )
    report = import_sources(index, [str(source)])
    assert (report.records, report.skipped) == (3, {"status:404": 1})
    assert index.stats().unique == 2  # the chunked copy has the payload of the first
    kind = "sha256" if index.algorithm == "sha256" else "sha1"
    texts = [f"{kind}:{hashlib.new(kind, warcs.page(n)).hexdigest()}" for n in (1, 2)]
    assert originals(index, *texts) == ["http://site.test/1", "http://site.test/2"]


def test_files_of_one_name_and_other_content_are_two_packages(tmp_path: Path, index: DedupIndex) -> None:
    for number in (1, 2):
        (tmp_path / str(number)).mkdir()
        cdxj(tmp_path / str(number) / "index.cdxj", [line(number)])
        import_sources(index, [str(tmp_path / str(number) / "index.cdxj")], crawl=f"crawl-{number}")
    assert index.stats().unique == 2


def test_one_crawl_of_several_packages_in_any_order_holds_the_same(tmp_path: Path, index: DedupIndex) -> None:
    cdxj(tmp_path / "new.cdxj", [line(1, mime="warc/revisit", length="500"), line(2)])
    cdxj(tmp_path / "old.cdxj", [line(1, length="1500")])
    for name in ("new", "old"):
        import_sources(index, [str(tmp_path / f"{name}.cdxj")], crawl="crawl")
    counts = index.stats().counts
    assert (counts.total, counts.duplicates, counts.conserved) == (3, 1, 1000)
    assert index.stats().unique == 2
    assert index.verify() == []


def test_a_damaged_source_adds_nothing_and_the_others_are_taken(tmp_path: Path, index: DedupIndex) -> None:
    good = cdxj(tmp_path / "good.cdxj", [line(1)])
    bad = cdxj(tmp_path / "bad.cdxj.gz", [line(number) for number in range(2, 500)])
    bad.write_bytes(bad.read_bytes()[:-50])
    report = import_sources(index, [str(bad), str(good)])
    assert (report.packages, len(report.failed)) == (1, 1)
    assert "bad.cdxj.gz" in report.failed[0]
    assert index.stats().unique == 1
    assert index.verify() == []


def test_remove_others_keeps_what_the_sources_name(tmp_path: Path, index: DedupIndex) -> None:
    for number in (1, 2, 3):
        wacz(tmp_path / f"{number}.wacz", [line(number), line(9)])
        import_sources(index, [str(tmp_path / f"{number}.wacz")], crawl=f"crawl-{number}")
    manifest = tmp_path / "keep.json"
    manifest.write_text(
        json.dumps({"resources": [{"name": "2.wacz", "path": "2.wacz", "crawlId": "crawl-2"}]})
    )
    report = import_sources(index, [str(manifest)], remove_others=True)
    assert report.removed == ("crawl-1", "crawl-3")
    assert index.stats().counts.total == 2
    assert originals(index, sha256(1), sha256(9)) == [None, "http://site.test/9"]
    assert index.verify() == []


def test_remove_others_refuses_to_keep_nothing(tmp_path: Path, index: DedupIndex) -> None:
    import_sources(index, [str(wacz(tmp_path / "1.wacz", [line(1)]))], crawl="crawl-1")
    gone = tmp_path / "gone.json"
    gone.write_text(json.dumps({"resources": [{"name": "g.wacz", "path": "g.wacz", "crawlId": "gone"}]}))
    with pytest.raises(UsageError, match="nothing was removed"):
        import_sources(index, [str(gone)], remove_others=True)
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"resources": []}))
    with pytest.raises(UsageError, match="no package"):
        import_sources(index, [str(empty)], remove_others=True)
    assert index.stats().unique == 1


@pytest.mark.parametrize("argument", ["nowhere.wacz", "*.nothing", "."])
def test_arguments_that_name_nothing_are_refused(
    tmp_path: Path, index: DedupIndex, argument: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare").mkdir()
    monkeypatch.chdir(tmp_path / "bare")
    with pytest.raises(UsageError):
        import_sources(index, [argument])


@given(
    st.lists(
        st.one_of(st.binary(max_size=200), st.builds(lambda t: b'a 20250101000000 {"url":' + t, st.binary()))
    )
)
def test_no_line_raises(tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]) -> None:
    collector = Collector(tmp_path_factory.mktemp("fuzz"), ImportPolicy(), None)
    read_cdx(lines, collector)


@given(st.binary(max_size=400), st.booleans())
def test_hostile_files_give_lines_or_a_source_error(content: bytes, compressed: bool) -> None:
    content = gzip.compress(content)[: len(content) + 5] if compressed else content
    try:
        found = b"".join(lines_of(io.BytesIO(content), "x.cdx"))
    except SourceError:
        return
    assert compressed or content[:2] == b"\x1f\x8b" or found == content
