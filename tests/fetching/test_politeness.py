"""Whose turn it is: rates, pauses, hosts that are given up, and that no host holds another."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from email.utils import formatdate
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.hostile import Call, Server, answer, fetched

from ccrawl.fetching.politeness import REFUSALS, Schedule, Sign, Turn
from ccrawl.fetching.retry_after import pause_of

PAGE = answer(b"<p>At your service.</p>")


def schedule(**given: float) -> Schedule[int]:
    settings = {"per_host": 2, "rate": 0.0, "give_up": 3, "max_wait": 60.0} | given
    return Schedule(**settings)  # type: ignore[arg-type]


def test_hosts_take_turns_whatever_the_order_of_their_urls() -> None:
    hosts = schedule(per_host=100, give_up=100)
    for number in range(30):
        hosts.add("abc"[number // 10], number, 0.0)
    turns = [hosts.take(0.0) for _ in range(30)]
    assert [turn.host.name for turn in turns if turn] == list("abc" * 10)
    assert hosts.take(0.0) is None


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.floats(0, 3)), max_size=40),
    st.integers(1, 3),
    st.sampled_from([0.0, 1.0, 4.0]),
    st.integers(1, 6),
)
def test_every_job_has_its_turn_once_and_no_host_more_than_it_may(
    jobs: list[tuple[str, float]], per_host: int, rate: float, slots: int
) -> None:
    hosts = schedule(per_host=per_host, rate=rate)
    for number, (name, _) in enumerate(jobs):
        hosts.add(name, number, 0.0)
    now = 0.0
    running: list[tuple[float, Turn[int]]] = []
    started: list[tuple[str, int, float]] = []
    while len(started) < len(jobs) or running:
        while len(running) < slots and (turn := hosts.take(now)) is not None:
            running.append((now + jobs[turn.job][1], turn))
            started.append((turn.host.name, turn.job, now))
            assert turn.host.active <= per_host
        ends = min((end for end, _ in running), default=None)
        may = hosts.next_turn() if len(running) < slots else None
        times = [at for at in (ends, may) if at is not None]
        assert times, "jobs wait for nothing"
        now = max(now, min(times))
        for ended in [entry for entry in running if entry[0] <= now]:
            running.remove(ended)
            assert hosts.finish(ended[1], Sign.ANSWER, "", now) == []
    assert sorted(job for _, job, _ in started) == list(range(len(jobs)))
    for name in "abcd":
        mine = [(job, at) for host, job, at in started if host == name]
        assert [job for job, _ in mine] == sorted(job for job, _ in mine)
        if rate:
            assert all(later - earlier >= 1 / rate - 1e-9 for (_, earlier), (_, later) in pairwise(mine))


def test_a_host_that_takes_no_connection_is_given_up_after_pauses_that_grow() -> None:
    hosts = schedule()
    for number in range(10):
        hosts.add("dead", number, 0.0)
    now, pauses = 0.0, []
    for _ in range(2):
        turn = hosts.take(now)
        assert turn is not None
        assert hosts.finish(turn, Sign.NO_CONNECTION, "refused", now) == []
        assert hosts.take(now) is None
        at = hosts.next_turn()
        assert at is not None
        pauses.append(at - now)
        now = at
    assert pauses == [0.25, 0.5]
    turn = hosts.take(now)
    assert turn is not None
    assert hosts.finish(turn, Sign.NO_CONNECTION, "refused", now) == list(range(3, 10))
    verdict = hosts.add("dead", 11, now)
    assert verdict is not None and verdict[0] == "dead" and "refused" in verdict[1]


def test_one_answer_makes_up_for_failed_connections() -> None:
    hosts = schedule()
    for number in range(9):
        hosts.add("a", number, 0.0)
    for number in range(9):
        turn = hosts.take(number * 10.0)
        assert turn is not None
        sign = Sign.ANSWER if number % 3 == 2 else Sign.NO_CONNECTION
        assert hosts.finish(turn, sign, "", number * 10.0) == []


def test_a_silent_host_is_given_up_after_urls_from_all_over_its_queue_were_silent_too() -> None:
    hosts = schedule(per_host=3, give_up=3)
    for number in range(100):
        hosts.add("silent", number, 0.0)
    tried = []
    for _ in range(2):
        turns = [turn for _ in range(3) if (turn := hosts.take(0.0))]
        tried.append([turn.job for turn in turns])
        lost = [job for turn in turns for job in hosts.finish(turn, Sign.SILENCE, "silence", 0.0)]
    assert tried == [[0, 1, 2], [3, 51, 99]]
    assert sorted([*lost, *tried[0], *tried[1]]) == list(range(100))


def test_a_host_of_which_only_the_first_urls_are_silent_is_kept() -> None:
    hosts = schedule(per_host=1, give_up=3)
    for number in range(100):
        hosts.add("a", number, 0.0)
    done = []
    while (turn := hosts.take(0.0)) is not None:
        sign = Sign.SILENCE if turn.job < 60 else Sign.ANSWER
        assert hosts.finish(turn, sign, "", 0.0) == []
        done.append(turn.job)
    assert sorted(done) == list(range(100))


def test_a_host_gets_all_its_turns_only_after_its_first_answer() -> None:
    hosts = schedule(per_host=16, give_up=3)
    for number in range(40):
        hosts.add("a", number, 0.0)
    turns = [turn for _ in range(16) if (turn := hosts.take(0.0))]
    assert len(turns) == 3
    hosts.finish(turns[0], Sign.ANSWER, "", 0.0)
    more = [hosts.take(0.0) for _ in range(16)]
    assert more.count(None) == 2


@pytest.mark.parametrize(
    ("value", "pause"),
    [
        ("2", 2.0),
        (" 120 ", 120.0),
        ("0", 0.0),
        ("86400", 86400.0),
        ("9" * 400, float("9" * 20)),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("soon", None),
        ("\u0661", None),
        ("Thu, 01 Jan 1970 00:20:00 GMT", 201.0),  # whole seconds may be cut: one more
        ("Thursday, 01-Jan-70 00:20:00 GMT", 201.0),
        ("Thu Jan  1 00:20:00 1970", 201.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, pause: float | None) -> None:
    assert pause_of(value, now=1000.0) == pause


@given(st.text(max_size=40) | st.text(st.sampled_from("0123456789 :,-+GMTJan"), max_size=40))
def test_any_retry_after_is_a_pause_or_nothing(value: str) -> None:
    pause = pause_of(value, now=1e9)
    assert pause is None or pause >= 0


def refusing(count: int, *fields: str, status: str = "429 Too Many Requests"):  # type: ignore[no-untyped-def]
    """A route that refuses so many times."""
    left = count

    async def route(call: Call) -> None:
        nonlocal left
        left -= 1
        await call.send(answer(b"", *fields, status=status) if left >= 0 else PAGE)

    return route


def gaps(server: Server) -> list[float]:
    return [later.at - earlier.at for earlier, later in pairwise(server.calls)]


def test_the_rate_is_one_of_the_host_however_many_connections_there_are() -> None:
    async def main() -> None:
        async with Server({"*": PAGE}) as server:
            urls = [server.url(f"/{number}") for number in range(8)]
            await fetched(urls, rate=10, connections=16, ignore_robots=True)
            assert min(gaps(server)) >= 0.09

    asyncio.run(main())


@pytest.mark.parametrize("kind", ["seconds", "date", "unsaid"])
def test_a_host_that_refuses_is_left_alone_as_long_as_it_asks_and_then_gives_all(kind: str) -> None:
    async def main() -> None:
        async def route(call: Call) -> None:
            if len(call.server.calls) > 1:
                await call.send(PAGE)
                return
            ahead = formatdate(time.time() + 1, usegmt=True)
            fields = {"seconds": ["Retry-After: 1"], "date": [f"Retry-After: {ahead}"], "unsaid": []}[kind]
            await call.send(answer(b"", *fields, status="503 Busy" if kind == "unsaid" else "429 Slow"))

        async with Server({"*": route}) as server:
            urls = [server.url(f"/{number}") for number in range(4)]
            results = await fetched(urls, per_host=1, ignore_robots=True)
            assert {(result.status, result.error) for result in results.values()} == {(200, "")}
            assert {len(result.exchanges) for result in results.values()} == {1}
            assert gaps(server)[0] >= 0.99

    asyncio.run(main())


def test_a_host_that_asks_for_too_long_a_pause_is_given_up_at_once_and_holds_no_other() -> None:
    async def main() -> None:
        begin = time.monotonic()
        async with (
            Server({"*": refusing(1000, "Retry-After: 86400")}) as patient,
            Server({"*": refusing(1000, "Retry-After: 0")}) as always,
            Server({"*": PAGE}) as good,
        ):
            urls = [server.url(f"/{number}") for server in (patient, always) for number in range(20)]
            fast = [good.url(f"/{number}") for number in range(40)]
            results = await fetched(urls + fast, connections=16, max_wait=2, per_host=1, ignore_robots=True)
            assert Counter(results[url].error for url in urls) == {"rate-limited": 40}
            assert Counter(results[url].error for url in fast) == {"": 40}
            assert max(call.at for call in good.calls) - begin < 1
            assert len(patient.calls) == 1
            assert results[urls[0]].status == 429
            assert len(always.calls) == REFUSALS

    asyncio.run(main())


def test_one_url_is_asked_for_no_more_often_than_it_may() -> None:
    async def main() -> None:
        async with Server({"/busy": refusing(99, status="503 Busy"), "*": PAGE}) as server:
            url = server.url("/busy")
            results = await fetched([url], attempts=2, ignore_robots=True)
            assert (results[url].status, results[url].error) == (503, "")
            assert len(server.calls) == 2

    asyncio.run(main())


def test_dead_and_silent_hosts_hold_no_healthy_one() -> None:
    async def silence(call: Call) -> None:
        await call.reader.read()

    async def main() -> None:
        async with Server({"*": silence}) as silent, Server({"*": PAGE}) as good:
            gone = Server({})
            async with gone:
                pass
            bad = [server.url(f"/{number}") for server in (silent, gone) for number in range(50)]
            fast = [good.url(f"/{number}") for number in range(50)]
            began = time.monotonic()
            results = await fetched(
                bad + fast, connections=8, per_host=4, idle_timeout=0.3, ignore_robots=True
            )
            assert time.monotonic() - began < 4
            assert {results[url].error for url in fast} == {""}
            assert max(call.at for call in good.calls) - began < 0.6
            errors = Counter(results[url].error for url in bad)
            assert errors == {"timeout": 8, "connect": 4, "dead": 88} and len(silent.calls) == 8
            assert "in a row" in results[gone.url("/49")].detail

    asyncio.run(main())
