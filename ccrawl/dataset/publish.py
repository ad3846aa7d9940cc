"""`ccrawl.publish`: a dataset onto a hub, in batches, each file once, the card last.

A hub that keeps a repository for the dataset shows what is committed. So shards are committed in batches
that each can be done again, and README.md comes with the manifest in the last commit: until then nobody
is told of numbers that are not there yet. What the hub holds already, by SHA-256, is not sent again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ccrawl.dataset.card.options import check_repo
from ccrawl.dataset.card.template import card_is_of
from ccrawl.dataset.ledger import MANIFEST
from ccrawl.dataset.manifest import Manifest, read_manifest
from ccrawl.dataset.verify import verify
from ccrawl.errors import CcrawlError, OutputError, UsageError
from ccrawl.extras import install_command
from ccrawl.units import count

if TYPE_CHECKING:
    from huggingface_hub import HfApi

README = "README.md"
ASSETS = "assets"
_TYPE = "dataset"
# A commit names all its files, and what was sent is lost to a resumed run only if it was never committed.
_BATCH_FILES = 100
_BATCH_BYTES = 10 << 30

OnCommit = Callable[[int, int, int], None]  # files committed, files to send in all, bytes committed


@dataclass(frozen=True, slots=True)
class Upload:
    """A file to publish: its path in the dataset and in the repository, and what identifies its content."""

    path: str
    bytes: int
    sha256: str
    blob_id: str  # as git names it, for files that the hub keeps in git itself; "" for Parquet


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What was sent, or would be. strangers: data files of the repository that are not ours."""

    repo: str
    dry_run: bool
    sent: tuple[Upload, ...]
    there: tuple[Upload, ...]
    strangers: tuple[str, ...]
    removed: bool  # whether the strangers were
    commits: int

    @property
    def sent_bytes(self) -> int:
        return sum(upload.bytes for upload in self.sent)


def publish(
    directory: str | os.PathLike[str],
    repo: str,
    *,
    private: bool = False,
    prune: bool = False,
    dry_run: bool = False,
    endpoint: str | None = None,
    on_commit: OnCommit | None = None,
) -> PublishReport:
    """Put the dataset in `directory` into the hub's dataset repository `repo`, made if missing.

    Files are held against the manifest first. The access token is the one that huggingface_hub finds
    (HF_TOKEN, or a login); it is not taken here and not shown. `prune` removes data files from the repository
    that the dataset does not have; without it they are refused, since the card would not be true. `dry_run`
    only reads.

    Raises OutputError when the dataset is not fit to publish, when strangers are in the way, and when the hub
    refuses; the same call then goes on where it stopped. UsageError for a name that is no repository's.
    """
    check_repo(repo)
    folder = Path(directory)
    manifest = read_manifest(folder)
    _check_fit(folder, manifest)
    data = [Upload(shard.file, shard.file_bytes, shard.sha256, "") for shard in manifest.shards]
    last = [_small(folder, path) for path in (*_assets(folder), MANIFEST, README)]
    with _told(repo):
        api = _api(endpoint)
        remote = _remote(api, repo)
        data_to_send = [upload for upload in data if not _is_there(upload, remote)]
        last_to_send = [upload for upload in last if not _is_there(upload, remote)]
        strangers = _strangers(remote or {}, {upload.path for upload in data})
        if strangers and not (prune or dry_run):
            raise OutputError(
                f"{repo}: holds {len(strangers)} data files that this dataset does not have, "
                f"as {strangers[0]}; --prune removes them"
            )
        commits = 0
        if not dry_run:
            if remote is None:
                api.create_repo(repo, repo_type=_TYPE, private=private, exist_ok=True)
            commits = _send(api, repo, folder, data_to_send, last_to_send, strangers, on_commit)
    sent = (*data_to_send, *last_to_send)
    return PublishReport(
        repo=repo,
        dry_run=dry_run,
        sent=sent,
        there=tuple(upload for upload in (*data, *last) if upload not in sent),
        strangers=strangers,
        removed=bool(strangers) and not dry_run,
        commits=commits,
    )


def _check_fit(folder: Path, manifest: Manifest) -> None:
    """Refuse what would not be true once it is published."""
    if not manifest.shards:
        raise OutputError(f"{folder}: holds no finished shard, so there is nothing to publish")
    try:
        card = (folder / README).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"{folder}: has no card; make it with ccrawl card {folder} --repo ...") from error
    of = card_is_of(card)
    if of is not None and of != manifest.fingerprint:
        raise OutputError(f"{folder / README}: is a card of other files; make it again with ccrawl card")
    faults = [
        fault for fault in verify(folder, rows=False).faults if fault.code not in ("shard-failed", "leftover")
    ]
    if faults:
        raise OutputError(
            f"{folder}: {count(len(faults), 'fault')}, the first: {faults[0].where}: {faults[0].detail}; "
            "see ccrawl verify"
        )


def _assets(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in (folder / ASSETS).glob("*.svg"))


def _small(folder: Path, path: str) -> Upload:
    content = (folder / path).read_bytes()
    blob_id = hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
    return Upload(path, len(content), hashlib.sha256(content).hexdigest(), blob_id)


@contextmanager
def _told(repo: str) -> Iterator[None]:
    """Errors of the hub's client as one line."""
    try:
        yield
    except CcrawlError:
        raise
    except Exception as error:  # those of its HTTP library, its own, and wrapped ones
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error
        message = " ".join(str(cause).split())[:300] or type(cause).__name__
        raise OutputError(f"{repo}: {message}; the same command goes on where this one stopped") from error


def _api(endpoint: str | None) -> HfApi:
    try:
        from huggingface_hub import HfApi
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError as error:
        raise UsageError(f"publishing needs huggingface_hub: {install_command('hub')}") from error
    disable_progress_bars()  # the caller tells what goes on
    return HfApi(endpoint=endpoint, library_name="ccrawl")


def _remote(api: HfApi, repo: str) -> dict[str, Any] | None:
    """The repository's files by path; None when there is no such repository."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    try:
        tree = api.list_repo_tree(repo, recursive=True, repo_type=_TYPE)
        return {entry.path: entry for entry in tree if isinstance(entry, RepoFile)}
    except RepositoryNotFoundError:
        return None


def _is_there(upload: Upload, remote: dict[str, Any] | None) -> bool:
    entry = (remote or {}).get(upload.path)
    if entry is None or entry.size != upload.bytes:
        return False
    if entry.lfs is not None:
        return bool(entry.lfs.sha256 == upload.sha256)
    return bool(entry.blob_id == upload.blob_id)


def _strangers(remote: dict[str, Any], ours: set[str]) -> tuple[str, ...]:
    """Data files of the repository that a reader would take for part of the dataset."""
    data = (path for path in remote if path.startswith("data/") and path.endswith(".parquet"))
    return tuple(sorted(path for path in data if path not in ours))


def _send(
    api: HfApi,
    repo: str,
    folder: Path,
    data: Sequence[Upload],
    last: Sequence[Upload],
    strangers: Sequence[str],
    on_commit: OnCommit | None,
) -> int:
    """Commit the shards in batches, then the rest; returns the number of commits."""
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    def commit(uploads: Sequence[Upload], message: str, removed: Sequence[str] = ()) -> None:
        operations: list[Any] = [CommitOperationDelete(path_in_repo=path) for path in removed]
        operations += [
            CommitOperationAdd(path_in_repo=upload.path, path_or_fileobj=folder / upload.path)
            for upload in uploads
        ]
        api.create_commit(repo, operations, commit_message=message, repo_type=_TYPE)

    done = sent_bytes = commits = 0
    for batch in _batches(data):
        commit(batch, f"Add {batch[0].path}" + (f" and {len(batch) - 1} more" if len(batch) > 1 else ""))
        commits += 1
        done += len(batch)
        sent_bytes += sum(upload.bytes for upload in batch)
        if on_commit is not None:
            on_commit(done, len(data) + len(last), sent_bytes)
    if last or strangers:
        commit(last, "Update the card and the manifest", strangers)
        commits += 1
        if on_commit is not None:
            on_commit(done + len(last), len(data) + len(last), sent_bytes + sum(u.bytes for u in last))
    return commits


def _batches(uploads: Sequence[Upload]) -> Iterator[list[Upload]]:
    batch: list[Upload] = []
    size = 0
    for upload in uploads:
        if batch and (len(batch) == _BATCH_FILES or size + upload.bytes > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(upload)
        size += upload.bytes
    if batch:
        yield batch
