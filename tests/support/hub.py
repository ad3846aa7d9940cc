"""A dataset hub on this machine: the calls that huggingface_hub makes to publish, over real HTTP.

Paths and JSON are those of huggingface_hub 2.4 with its Xet transfer off (HF_HUB_DISABLE_XET), which then
uses Git LFS's batch API (basic transfer). Every request is kept, so that a test can count what was sent.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Hub:
    """The hub's state, for a test to look at and to disturb."""

    url: str = ""
    repos: dict[str, dict[str, bytes]] = field(default_factory=dict)  # repository -> path -> content
    private: set[str] = field(default_factory=set)
    objects: dict[str, bytes] = field(default_factory=dict)  # LFS objects by SHA-256
    commits: list[tuple[str, list[str], list[str]]] = field(default_factory=list)  # message, added, deleted
    uploads: list[str] = field(default_factory=list)  # SHA-256 of each object that was sent
    requests: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    fail_commits_after: int | None = None  # then 403, which no client tries again


@contextmanager
def running() -> Iterator[Hub]:
    """A hub that listens on a free port of this machine."""
    hub = Hub()
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._note()
        path = self.path.partition("?")[0]
        if match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/tree/main", path):
            self._tree(match[1])
        else:
            self._answer(404, {"error": f"GET {path}?"})

    def do_PUT(self) -> None:
        self._note()
        content = self._body()
        oid = self.path.rpartition("/")[2]
        if hashlib.sha256(content).hexdigest() != oid:
            self._answer(400, {"error": "other content than announced"})
            return
        self.hub.objects[oid] = content
        self.hub.uploads.append(oid)
        self._answer(200, {})

    def do_POST(self) -> None:
        self._note()
        path, body = self.path.partition("?")[0], self._body()
        if path == "/api/repos/create":
            self._create(json.loads(body))
        elif path == "/api/validate-yaml":
            self._validate(json.loads(body))
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/preupload/main", path):
            self._preupload(match[1], json.loads(body))
        elif match := re.fullmatch(r"/datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", path):
            self._lfs(json.loads(body))
        elif match := re.fullmatch(r"/api/datasets/([^/]+/[^/]+)/commit/main", path):
            self._commit(match[1], [json.loads(line) for line in body.splitlines()])
        else:
            self._answer(404, {"error": f"POST {path}?"})

    def _create(self, asked: dict[str, Any]) -> None:
        assert asked["type"] == "dataset", asked
        repo = f"{asked['organization']}/{asked['name']}"
        if repo in self.hub.repos:
            url = f"{self.hub.url}/datasets/{repo}"
            self._answer(409, {"error": "You already created this dataset repo", "url": url})
            return
        self.hub.repos[repo] = {".gitattributes": b"*.parquet filter=lfs\n"}
        if asked.get("private") or asked.get("visibility") == "private":
            self.hub.private.add(repo)
        self._answer(200, {"url": f"{self.hub.url}/datasets/{repo}", "name": repo})

    def _validate(self, asked: dict[str, Any]) -> None:
        import yaml

        values = yaml.safe_load(asked["content"].partition("---\n")[2].partition("\n---\n")[0])
        known = isinstance(values, dict) and isinstance(values.get("configs"), list)
        self._answer(
            200 if known else 400, {"errors": [] if known else [{"message": "no configs"}], "warnings": []}
        )

    def _tree(self, repo: str) -> None:
        if repo not in self.hub.repos:
            self._answer(404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"})
            return
        entries: list[dict[str, Any]] = []
        for path, content in sorted(self.hub.repos[repo].items()):
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            entry: dict[str, Any] = {"type": "file", "path": path, "size": len(content), "oid": blob}
            if path.endswith(".parquet"):
                entry["lfs"] = {
                    "oid": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                    "pointerSize": 130,
                }
            entries.append(entry)
        self._answer(200, entries)

    def _preupload(self, repo: str, asked: dict[str, Any]) -> None:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if file["path"].endswith(".parquet") else "regular",
                "shouldIgnore": False,
            }
            for file in asked["files"]
        ]
        self._answer(200 if repo in self.hub.repos else 404, {"files": files})

    def _lfs(self, asked: dict[str, Any]) -> None:
        assert asked["hash_algo"] == "sha256"
        objects = []
        for wanted in asked["objects"]:
            answer = dict(wanted)
            if wanted["oid"] not in self.hub.objects:
                answer["actions"] = {
                    "upload": {"href": f"{self.hub.url}/objects/{wanted['oid']}", "header": {}}
                }
            objects.append(answer)
        self._answer(200, {"transfer": "basic", "objects": objects})

    def _commit(self, repo: str, lines: list[dict[str, Any]]) -> None:
        hub = self.hub
        if hub.fail_commits_after is not None and len(hub.commits) >= hub.fail_commits_after:
            self._answer(403, {"error": "Forbidden: the hub is closed for today"})
            return
        files, added, deleted, message = hub.repos[repo], [], [], ""
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                message = value["summary"]
            elif line["key"] == "lfsFile":
                files[value["path"]] = hub.objects[value["oid"]]
                added.append(value["path"])
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
                added.append(value["path"])
            elif line["key"] == "deletedFile":
                del files[value["path"]]
                deleted.append(value["path"])
            else:
                self._answer(400, {"error": f"{line['key']}?"})
                return
        hub.commits.append((message, added, deleted))
        oid = f"{len(hub.commits):040x}"
        self._answer(
            200, {"success": True, "commitOid": oid, "commitUrl": f"{hub.url}/datasets/{repo}/commit/{oid}"}
        )

    def _note(self) -> None:
        self.hub.requests.append(f"{self.command} {self.path}")
        self.hub.tokens.add(self.headers.get("Authorization", ""))

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            content = b""
            while size := int(self.rfile.readline(), 16):
                content += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return content
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
