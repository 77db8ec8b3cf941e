"""Finds the files of a stream, and cuts them into chunks of whole records.

It reads CSV in UTF-8, plain or packed with gzip or bzip2. Everything else is the program's to read, or to refuse in words: zstd, lz4, JSON Lines, Parquet,
UTF-16, but also trips.csv.zip, Trips.csv or two files that stand for one. `Found.foreign` has what may be meant and is not read here, for a file that is
skipped in silence makes a wrong answer.
"""

from __future__ import annotations

import bz2
import gzip
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any

from .errors import InputError

MAX_DATA = 16 << 20  #: bytes that the records of a chunk may have
MAX_HEADER = 1 << 20  #: bytes that a header may have
_HEAD = 64 << 10  # bytes of a file that show how it is written

_UNPACKED = (".gz", ".bz2")
_FOREIGN = r"(\.csv|\.tsv|\.txt|\.jsonl|\.ndjson|\.json|\.parquet)?(\.tar)?(\.(zst|zstd|lz4|gz|gzip|bz2|xz|lzma|br|zip|7z|z|tgz|snappy|sz))?"
_FIELD = rb'(?:(?!")[^%b\n]*|"[^"]*(?:""[^"]*)*"(?:[^%b"\n][^\n]*)?)'  # %b is the separator


@dataclass(frozen=True)
class File:
    """A file of a stream."""

    name: str  #: what the cluster is told: the path below the directory, without .gz or the like
    path: str
    size: int


@dataclass
class Found:
    """What a pattern finds."""

    files: list[File]
    foreign: list[str]  #: paths that may be meant, and that only the program reads or refuses
    missing: list[str]  #: directories that lack a file which others beside them have


def find(directory: str, pattern: str) -> Found:
    """Look for the files below a directory that a pattern fits. A star stands for anything but a slash."""
    segments = pattern.split("/")
    if not pattern or pattern.startswith("/") or ".." in segments:
        raise InputError(f"the cluster asks for files {pattern!r}, which may lie outside of {directory}: that is refused", "bad_reply")
    places = [""]
    for segment in segments[:-1]:
        fits = _matcher(segment)
        places = [os.path.join(at, name) for at in places for name in _names(os.path.join(directory, at)) if fits(name) and os.path.isdir(os.path.join(directory, at, name))]
    found = Found([], [], [])
    for at in places:
        before = len(found.files) + len(found.foreign)
        _find_in(directory, at, segments[-1], found)
        if len(found.files) + len(found.foreign) == before:
            found.missing.append(os.path.join(directory, at))
    return found


def _find_in(directory: str, at: str, segment: str, found: Found) -> None:
    fits, stem = _matcher(segment), segment.removesuffix(".csv")
    foreign = re.compile(_regex(stem) + _FOREIGN, re.IGNORECASE | re.DOTALL)
    taken: set[str] = set()
    for name in _names(os.path.join(directory, at)):
        path = os.path.join(directory, at, name)
        plain = next((name[: -len(end)] for end in _UNPACKED if name.endswith(end)), name)
        if fits(plain) and plain not in taken and os.path.isfile(path):
            taken.add(plain)
            found.files.append(File(os.path.join(at, plain).replace(os.sep, "/"), path, os.path.getsize(path)))
        elif fits(plain) or foreign.fullmatch(name):
            found.foreign.append(path)


def is_plain(file: File, comma: str, delimiter: str | None) -> bool:
    """Report whether this package reads the file as the program would: UTF-8, line feeds, and the separator that is expected."""
    try:
        with open(file.path, "rb") as raw, _unpacked(file.path, raw) as f:
            head = f.read(_HEAD)
    except (OSError, EOFError) as err:
        raise InputError(f"read {file.path}: {err}", "input") from err
    header = head.lstrip(b"\r\n").split(b"\n", 1)[0].rstrip(b"\r")
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in header or b"\r" in header:
        return False
    return delimiter is not None or comma.encode() in header or not any(other in header for other in (b",", b";", b"\t", b"|"))


def _names(directory: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(directory) if not name.startswith("."))
    except OSError as err:
        raise InputError(f"look for the data: {err}", "input") from err


def _matcher(segment: str) -> Any:
    return re.compile(_regex(segment), re.DOTALL).fullmatch


def _regex(segment: str) -> str:
    return "".join(".*" if c == "*" else re.escape(c) for c in segment)


@dataclass
class Counter:
    """How much of a stream was read. Bytes are those on the disk."""

    files: int = 0
    read: int = 0
    total: int = 0


def chunks(file: File, comma: str, marked: str | None, size: int, counter: Counter) -> Iterator[dict[str, Any]]:
    """Yield the records of a file as fields of `chunk` requests. marked is the separator of this file where it is not the stream's."""
    separator = re.escape((marked or comma).encode())
    field = _FIELD % (separator, separator)
    record = re.compile(field + b"(?:" + separator + field + rb")*\n")
    try:
        with open(file.path, "rb") as raw, _unpacked(file.path, raw) as f:
            yield from _cut(file, f, raw, record, marked, size, counter)
    except (OSError, EOFError) as err:
        raise InputError(f"read {file.path}: {err}", "input") from err


def _cut(file: File, f: IO[bytes], raw: IO[bytes], record: re.Pattern[bytes], marked: str | None, size: int, counter: Counter) -> Iterator[dict[str, Any]]:
    before, at, line, header, rest, first, over = 0, 0, 1, b"", b"", True, False
    mark = b"\x1e" + marked.encode() + b"l" if marked else b""
    while not over:
        more = f.read(max(size, 3))  # a byte order mark in one piece
        over = not more
        counter.read += raw.tell() - before
        before = raw.tell()
        if first:
            first, more = False, more.removeprefix(b"\xef\xbb\xbf")
            if more.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise InputError(f"{file.path} is in UTF-16: posta submit reads it", "foreign")
        rest += more
        if not header:
            header, rest, line = _header(file, rest, record, line, over)
            if not header:
                continue
        end = len(rest) if over else _records_end(rest, record)
        if end == 0 and len(rest) > MAX_DATA:
            raise InputError(f"{file.path}: the record in line {line} is longer than 16 MiB; is there a quote that is never closed?", "input")
        for data in _pieces(rest[:end], size, record):
            if len(data) > MAX_DATA:
                raise InputError(f"{file.path}: the record in line {line} is longer than 16 MiB; is there a quote that is never closed?", "input")
            yield {"file": file.name, "line": line, "header": mark + header, "data": data, "at": at}
            at += len(data)
            line += data.count(b"\n")
        rest = rest[end:]


def _pieces(data: bytes, size: int, record: re.Pattern[bytes]) -> Iterator[bytes]:
    """Cut whole records into chunks of about size bytes: what was kept back may have grown to many."""
    while len(data) > 2 * size + 1:
        end = _records_end(data[: 2 * size], record)
        if end == 0:
            match = record.match(data)
            end = match.end() if match else len(data)
        yield data[:end]
        data = data[end:]
    if data:
        yield data


def _header(file: File, rest: bytes, record: re.Pattern[bytes], line: int, over: bool) -> tuple[bytes, bytes, int]:
    """Return the header, what is behind it, and the line of that. Lines that are empty are skipped."""
    while rest.startswith((b"\n", b"\r\n")):
        rest, line = rest[rest.index(b"\n") + 1 :], line + 1
    match = record.match(rest)
    end = match.end() if match else len(rest) if over else 0
    header = rest[:end].rstrip(b"\r\n")
    if max(len(header), 0 if end else len(rest)) > MAX_HEADER:
        raise InputError(f"{file.path}: its header has more than 1 MiB", "input")
    if b"\r" in re.sub(rb'"[^"]*"', b"", header):
        raise InputError(f"{file.path} has lines that end in carriage returns alone: posta submit reads it", "foreign")
    return header, rest[end:], line + rest[:end].count(b"\n")


def _records_end(data: bytes, record: re.Pattern[bytes]) -> int:
    """Return where the last whole record ends: a line feed within quotes is not the end of one."""
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    end = 0
    while match := record.match(data, end):
        end = match.end()
    return end


def _unpacked(path: str, raw: IO[bytes]) -> Any:
    if path.endswith(".gz"):
        return gzip.GzipFile(fileobj=raw)
    if path.endswith(".bz2"):
        return bz2.BZ2File(raw)
    return raw
