"""What has been done in a workspace: a small JSON file that survives crashes, old versions and two terminals.

Whatever the file holds that this version does not know, a stage or a key, is kept as it is.
"""

from __future__ import annotations

import contextlib
import copy
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

FORMAT_VERSION = 1
_LEFT_BEHIND_SECONDS = 60  # a younger temporary file may be another terminal's


class Damaged(Exception):  # noqa: N818
    """The file is not what this program writes; the exception's text says in what way."""


class TooNew(Exception):  # noqa: N818
    """A newer tilestep wrote the file, so this one must not."""


class Progress:
    """What is done: which stage is open, which are passed, how many hints were shown. It never changes."""

    def __init__(self, document: dict[str, Any] | None = None) -> None:
        self._document: dict[str, Any] = {"format_version": FORMAT_VERSION, "current": "", "stages": {}}
        self._document |= copy.deepcopy(document or {})
        self._document["format_version"] = FORMAT_VERSION

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Progress) and self._document == other._document

    def __hash__(self) -> int:
        return hash(self.text())

    @property
    def current(self) -> str:
        """The step of the stage that is open, "" at the start."""
        return str(self._document["current"])

    def passed(self, step: str) -> str:
        """When the step was passed (ISO 8601, UTC), "" if it was not."""
        return str(self._entry(step).get("passed", ""))

    def passed_with(self, step: str, sha256: str) -> bool:
        """Whether the step was passed, and by a file with this hash."""
        return bool(self.passed(step)) and self._entry(step).get("sha256") == sha256

    def hints(self, step: str) -> int:
        """How many of the step's hints were shown."""
        shown = self._entry(step).get("hints", 0)
        return shown if isinstance(shown, int) else 0

    def steps(self) -> tuple[str, ...]:
        """Every step that something is known of, also steps that this version does not have."""
        return tuple(self._document["stages"])

    def opening(self, step: str) -> Progress:
        """With that stage open."""
        return Progress(self._document | {"current": step})

    def passing(self, step: str, sha256: str) -> Progress:
        """With that step passed, by the file with this hash. The time of the first pass stands."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        return self._with(step, passed=self.passed(step) or now, sha256=sha256)

    def hinting(self, step: str, shown: int) -> Progress:
        """With so many hints shown, or more if more were shown before."""
        return self._with(step, hints=max(shown, self.hints(step)))

    def text(self) -> str:
        """The file's content."""
        return json.dumps(self._document, indent=2, ensure_ascii=False) + "\n"

    def _entry(self, step: str) -> dict[str, Any]:
        entry: dict[str, Any] = self._document["stages"].get(step, {})
        return entry

    def _with(self, step: str, **changes: Any) -> Progress:
        stages = self._document["stages"] | {step: self._entry(step) | changes}
        return Progress(self._document | {"stages": stages})


def parse(text: str) -> Progress:
    """The progress in a file's text. Raises Damaged, or TooNew."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise Damaged(f"it is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise Damaged("it holds no JSON object")
    version = document.get("format_version", FORMAT_VERSION)  # the oldest files had none
    if not isinstance(version, int):
        raise Damaged(f"its format_version is {version!r}")
    if version > FORMAT_VERSION:
        raise TooNew(f"it has format {version}, and this tilestep knows {FORMAT_VERSION}: update tilestep")
    stages = document.setdefault("stages", {})
    if not isinstance(stages, dict) or not all(isinstance(entry, dict) for entry in stages.values()):
        raise Damaged("its stages are not tables")
    return Progress(document)


class ProgressFile:
    """The file on disk. Several processes may use it at once: no change of one is lost to another."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Progress:
        """What is on disk; nothing done yet if there is no file. Raises Damaged, TooNew or OSError."""
        try:
            return parse(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return Progress()
        except UnicodeDecodeError as error:
            raise Damaged(f"it is not UTF-8 text: {error.reason}") from None

    def update(self, change: Callable[[Progress], Progress]) -> Progress:
        """Applies a change to what is on disk now, and writes it. Raises as `read` does."""
        with self._lock():
            before = self.read()
            after = change(before)
            if after != before or not self.path.exists():
                self._write(after.text())
            return after

    def replace_damaged(self, rescued: Progress) -> Path:
        """Puts a damaged file aside and writes what could be rescued: where the damaged one is now."""
        with self._lock():
            aside = free_name(self.path.with_name(f"{self.path.name}.damaged"))
            self.path.rename(aside)
            self._write(rescued.text())
            return aside

    def _write(self, text: str) -> None:
        """All or nothing: a crash at any moment leaves the old file or the new one."""
        self._remove_left_behind()
        handle, name = tempfile.mkstemp(prefix=self._prefix(), dir=self.path.parent)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)  # noqa: PTH105  (atomic, and says so)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        _sync_folder(self.path.parent)

    def _prefix(self) -> str:
        return f".{self.path.name}.writing-"

    def _remove_left_behind(self) -> None:
        for file in self.path.parent.glob(f"{self._prefix()}*"):
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > _LEFT_BEHIND_SECONDS:
                    file.unlink()

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Holds the folder; some network file systems have no locks, where two terminals rarely meet."""
        import fcntl  # not on Windows, where the rest of this package may still be imported

        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            with contextlib.suppress(OSError):
                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)


def free_name(wanted: Path) -> Path:
    """The path itself, or with the first number behind its stem that nothing has yet."""
    number, path = 1, wanted
    while os.path.lexists(path):
        number += 1
        path = wanted.with_name(f"{wanted.stem}-{number}{wanted.suffix}")
    return path


def _sync_folder(folder: Path) -> None:
    """Makes a rename last beyond a power failure, where the file system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
