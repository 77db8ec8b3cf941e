"""Drives the program posta, for what only it can do: SQL is compiled there, keys and files in other forms than CSV are read there.

Its `--events` are msgpack maps on standard output: progress, the answer in parts, and an error with its code. An answer counts when "done" stands behind it.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import msgpack

from . import errors, progress
from .result import Gathering, Result

_STOP = 10.0  # seconds that the program has to cancel its session and to tidy up
_COMPLAINTS = 64 << 10  # bytes of its standard error that are kept


def find(program: str | os.PathLike[str] | None, purpose: str) -> str:
    """Return the path of the program: the one that is given, that POSTA_PROGRAM names, or that is on the PATH."""
    wanted = os.fspath(program) if program is not None else os.environ.get("POSTA_PROGRAM") or "posta"
    found = shutil.which(wanted)
    if found is None:
        raise errors.NoProgram(
            f"{purpose} needs the program posta, and {wanted} is not there: put it on the PATH, set POSTA_PROGRAM, or give program=",
            "no_program",
        )
    return found


class _Process:
    """A call of the program, which is over when the block is: whoever leaves it by Ctrl-C waits until the session is cancelled."""

    def __init__(self, arguments: Sequence[str], *, tied: bool = False) -> None:
        self._complaints = bytearray()
        try:
            # A session of its own: Ctrl-C in a terminal would reach it twice, and the second one means "at once".
            self._process = subprocess.Popen(
                list(arguments), stdin=subprocess.PIPE if tied else subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
            )
        except OSError as err:
            raise errors.NoProgram(f"start {arguments[0]}: {err}", "no_program") from err
        self.out: IO[bytes] = self._process.stdout  # type: ignore[assignment]
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        err: IO[bytes] = self._process.stderr  # type: ignore[assignment]
        while more := os.read(err.fileno(), 8192):
            self._complaints += more
            del self._complaints[:-_COMPLAINTS]

    def ended(self) -> tuple[int, str]:
        """Wait for its end; return its exit code, and what it said on standard error."""
        code = self._process.wait()
        self._listener.join(1.0)
        return code, self._complaints.decode(errors="backslashreplace").strip()

    def stop(self) -> None:
        """End it as Ctrl-C does, and wait: at first in order, at once when somebody presses Ctrl-C again, or it takes too long."""
        if self._process.stdin:
            self._process.stdin.close()
        for kind in (signal.SIGINT, signal.SIGINT, signal.SIGKILL):
            if self._process.poll() is None:
                self._process.send_signal(kind)
            try:
                self._drain(_STOP)
                break
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                continue
        self._listener.join(1.0)
        for pipe in (self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()

    def _drain(self, seconds: float) -> None:
        """Read what nobody wants any more: a program that cannot write does not end."""
        reader = threading.Thread(target=self._read_all, daemon=True)
        reader.start()
        self._process.wait(seconds)
        reader.join(1.0)

    def _read_all(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while os.read(self.out.fileno(), 1 << 16):
                pass


@contextlib.contextmanager
def _running(arguments: Sequence[str], *, tied: bool = False) -> Iterator[_Process]:
    process = _Process(arguments, tied=tied)
    try:
        yield process
    finally:
        process.stop()


def ask(arguments: Sequence[str], show: progress.Callback | None) -> tuple[Result | None, str]:
    """Call the program with --events. Return its answer, and the text that it printed."""
    answer, head, text, error, done = Gathering(), {"session": "", "analysis": ""}, "", None, False
    with _running([*arguments, "--events"]) as process:
        for event in _events(process):
            kind = event.get("type")
            if kind == "progress" and show is not None:
                show(_progress(event))
            elif kind == "answer":
                head = event
            elif kind == "query":
                answer.query(event["name"], event["columns"], event["types"])
            elif kind == "results":
                for part in event["parts"]:
                    answer.part(part)
            elif kind == "note":
                answer.notes.append(event["text"])
            elif kind == "text":
                text += event["text"]
            elif kind == "error":
                error = errors.of(event["code"], event["message"])
            elif kind == "done":
                done = True
        code, complaints = process.ended()
    if error is not None:
        if error.code == "interrupted":
            raise KeyboardInterrupt
        raise error
    if code != 0:
        raise errors.Error(f"{arguments[0]} ended with exit code {code}: {complaints or 'it said nothing'}", "other")
    return (answer.result(head["session"], head["analysis"], []) if done else None), text


def _events(process: _Process) -> Iterator[dict[str, Any]]:
    unpacker = msgpack.Unpacker(unicode_errors="backslashreplace", max_buffer_size=1 << 30)
    while more := os.read(process.out.fileno(), 1 << 16):
        try:
            unpacker.feed(more)
            for event in unpacker:
                if not isinstance(event, dict):
                    raise ValueError("it is not an event")
                yield event
        except (ValueError, msgpack.UnpackException) as err:
            raise errors.Error(f"the program does not speak as this package expects ({err}): are both of one version?", "bad_reply") from err


def _progress(event: dict[str, Any]) -> progress.Progress:
    streams = tuple(progress.Stream(s["name"], s["files"], s["read"], s["total"], s["acked"], s["ended"]) for s in event["streams"])
    return progress.Progress(event["state"], event["session"], streams, event["rows"], event["retries"], tuple(event["silent"]))


def flags(params: Mapping[str, Any] | None, **options: Any) -> list[str]:
    """Return flags of the program. An option that is None is left out."""
    words = []
    for name, value in (params or {}).items():
        words += ["--param", f"{name}={text_of(value)}"]
    for name, value in options.items():
        if value is True:
            words.append("--" + name.replace("_", "-"))
        elif value is not None and value is not False:
            words += ["--" + name.replace("_", "-"), str(value)]
    return words


def text_of(value: Any) -> str:
    """Return the value of a parameter as the program reads it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def lines(arguments: Sequence[str]) -> str:
    """Call the program for what it prints at once."""
    with _running(arguments) as process:
        out = process.out.read().decode(errors="backslashreplace")
        code, complaints = process.ended()
    if code != 0:
        raise errors.of(_code(code), complaints.removeprefix("posta: ") or f"{arguments[0]} ended with exit code {code}")
    return out


def _code(exit_code: int) -> str:
    return {2: "usage", 3: "no_cluster"}.get(exit_code, "other")


class Connection:
    """`posta connect`: sockets of this user in front of a cluster with keys, as long as this object is there."""

    def __init__(self, program: str, arguments: Sequence[str], patience: float) -> None:
        self._directory = tempfile.mkdtemp(prefix="posta-")
        self._process: _Process | None = None
        try:
            self._process = _Process([program, "connect", "--tied", "--listen", f"ipc:{self._directory}/s", *arguments], tied=True)
            self.entry = self._ready(self._process, patience)
        except BaseException:
            self.close()
            raise

    def _ready(self, process: _Process, patience: float) -> str:
        ready, _, _ = select.select([process.out], [], [], patience)
        if not ready:
            raise errors.NoCluster(f"posta connect has said nothing for {patience:g} s", "no_cluster")
        said = os.read(process.out.fileno(), 1 << 16).decode().split()  # each line of it is written at once
        if said:
            return said[0]
        code, complaints = process.ended()
        raise errors.of(_code(code), complaints.removeprefix("posta: "))

    def close(self) -> None:
        """Take the sockets away."""
        if self._process is not None:
            self._process.stop()
            self._process = None
        shutil.rmtree(self._directory, ignore_errors=True)
