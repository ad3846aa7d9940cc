"""A Redis server of the tests' own, and a fresh index of each kind."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from ccrawl.index import DedupIndex, open_index


def start_server(
    folder: Path, *arguments: str, port_option: str = "--port"
) -> tuple[subprocess.Popen[bytes], int]:
    program = shutil.which("redis-server")
    if program is None:
        if os.environ.get("CI"):
            pytest.fail("redis-server is not installed: scripts/test installs it")
        pytest.skip("redis-server is not installed")
    folder.mkdir(parents=True, exist_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = subprocess.Popen(
        [
            *(program, port_option, str(port), "--bind", "127.0.0.1", "--dir", str(folder)),
            *("--save", "", "--appendonly", "no", "--databases", "64", *arguments),
        ],
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return server, port
        time.sleep(0.02)
    server.kill()
    raise AssertionError("redis-server did not start")


@pytest.fixture(scope="session")
def redis_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    server, port = start_server(tmp_path_factory.mktemp("redis"))
    yield port
    server.kill()
    server.wait()


@pytest.fixture(scope="session")
def secret_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """A server that asks for the password `open sesame`."""
    server, port = start_server(tmp_path_factory.mktemp("secret"), "--requirepass", "open sesame")
    yield port
    server.kill()
    server.wait()


@pytest.fixture
def redis_url(redis_port: int) -> str:
    """An empty database."""
    url = f"redis://127.0.0.1:{redis_port}/3"
    with redis.Redis.from_url(url, socket_timeout=60) as client:
        client.flushdb()
    return url


@pytest.fixture(params=["folder", "redis"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where an empty index is, of each kind."""
    return str(tmp_path / "index") if request.param == "folder" else request.getfixturevalue("redis_url")


@pytest.fixture
def reopen(location: str) -> Callable[[], DedupIndex]:
    """Opens the index anew, as another process would."""
    return lambda: open_index(location)


@pytest.fixture
def index(location: str) -> Iterator[DedupIndex]:
    with open_index(location) as opened:
        yield opened
