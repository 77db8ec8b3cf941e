"""How far a run is, and a display of it that needs nothing but standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TextIO


@dataclass(frozen=True)
class Stream:
    """How far one stream of files is."""

    name: str
    files: int = 0
    read: int = 0  #: bytes, as they lie on the disk
    total: int = -1  #: bytes to read; below 0 while that is not known
    acked: int = 0  #: bytes of records that the cluster has made durable
    ended: bool = False


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    state: str  #: what it does now, for people: "uploading", "computing", ...
    session: str = ""
    streams: tuple[Stream, ...] = ()
    rows: int = 0  #: of the answer, that have come
    retries: int = 0  #: requests that were said again
    silent: tuple[str, ...] = field(default=())  #: inputs that do not answer


#: Called about five times a second with how far the run is. What it raises ends the run, and cancels the session.
Callback = Callable[[Progress], Any]


class Display:
    """A line on standard error: drawn over and over on a terminal and in a notebook, elsewhere one every three seconds."""

    EVERY = 3.0

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stderr
        self._redraws = self._out.isatty() or "ipykernel" in sys.modules
        self._shown = 0  # columns of the line that is drawn
        self._told = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        line = _line(progress)
        if self._redraws:
            self._out.write("\r" + line.ljust(self._shown))
            self._shown = len(line)
        elif time.monotonic() - self._told >= self.EVERY:
            self._told = time.monotonic()
            self._out.write(line + "\n")
        self._out.flush()

    def close(self) -> None:
        """Take the line away."""
        if self._shown:
            self._out.write("\r" + " " * self._shown + "\r")
            self._out.flush()
            self._shown = 0


def _line(progress: Progress) -> str:
    parts = [progress.state]
    for stream in progress.streams:
        if stream.ended:
            parts.append(f"{stream.name} {_bytes(stream.read)} sent")
        elif stream.read and stream.total > 0:
            parts.append(f"{stream.name} {100 * stream.read // stream.total} % of {_bytes(stream.total)}")
        elif stream.read:
            parts.append(f"{stream.name} {_bytes(stream.read)}")
    if progress.silent:
        parts.append("no answer from " + ", ".join(progress.silent))
    if progress.rows:
        parts.append(f"{progress.rows} rows of answers")
    return "; ".join(parts)[:120]


def _bytes(n: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def callback(wanted: Callback | bool | None) -> Callback | None:
    """Return what to call. None shows a line where people look: on a terminal and in a notebook."""
    if callable(wanted):
        return wanted
    if wanted or wanted is None and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        return Display()
    return None


def close(shown: Callback | None) -> None:
    """End a display."""
    if isinstance(shown, Display):
        shown.close()
