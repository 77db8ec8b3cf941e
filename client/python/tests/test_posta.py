"""Tests of what needs no cluster. Run by `go test -tags interop ./client`, or: PYTHONPATH=client/python python3 -m unittest discover client/python/tests"""

from __future__ import annotations

import bz2
import csv
import datetime
import gzip
import io
import os
import random
import re
import tempfile
import unittest
from decimal import Decimal
from typing import Any
from unittest import mock

import posta
from posta import cluster, errors, files, program, result


class Directory(unittest.TestCase):
    def setUp(self) -> None:
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.dir = held.name

    def write(self, name: str, content: bytes) -> str:
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(content)
        return path


class Cutting(Directory):
    def cut(self, content: bytes, size: int, name: str = "t.csv", **more: Any) -> list[dict[str, Any]]:
        path = self.write(name, content)
        return list(files.chunks(files.File(name, path, len(content)), ",", more.get("marked"), size, files.Counter()))

    def test_chunks_hold_whole_records(self) -> None:
        """However a file is cut, chunks joined are its records, and each begins where it says that it does."""
        rand = random.Random(7)
        pieces = ['"', '""', ",", "\n", "\r\n", "a", "bc", "é", '"x\ny"', '"a,b"', '"q""q"', "\n\n"]
        for _ in range(400):
            body = "".join(rand.choice(pieces) for _ in range(rand.randrange(60))).encode()
            content = b"h,i\n" + body
            want = _records(body)
            for size in (1, 2, 3, 7, 64, 4096):
                chunks = self.cut(content, size)
                self.assertEqual(b"".join(c["data"] for c in chunks), body)
                at, ends = 0, {0}
                for record in want:
                    ends.add(max(ends) + len(record))
                for chunk in chunks:
                    self.assertEqual((chunk["at"], chunk["line"]), (at, 2 + body[:at].count(b"\n")))
                    self.assertIn(at, ends, (body, size))
                    at += len(chunk["data"])

    def test_headers(self) -> None:
        for content, header, line in (
            (b"\xef\xbb\xbfa,b\n1,2\n", b"a,b", 2),
            (b"\r\n\na,b\r\n1,2\n", b"a,b", 4),
            (b'"a\nb",c\n1,2\n', b'"a\nb",c', 3),
            (b"a,b", None, 0),
            (b"a,b\n", None, 0),
            (b"", None, 0),
        ):
            for size in (1, 5, 100):
                chunks = self.cut(content, size)
                if header is None:
                    self.assertEqual(chunks, [], content)
                else:
                    self.assertEqual((chunks[0]["header"], chunks[0]["line"], chunks[0]["data"][:1]), (header, line, b"1"), content)
        self.assertEqual(self.cut(b"a;b\n1;2\n", 100, marked=";")[0]["header"], b"\x1e;la;b")

    def test_packed_files(self) -> None:
        rows = b"a\n" + b"1\n" * 5000
        for name, content in (("t.csv.gz", gzip.compress(rows)), ("t.csv.bz2", bz2.compress(rows))):
            self.assertEqual(b"".join(c["data"] for c in self.cut(content, 1000, name)), rows[2:])
            with self.assertRaises(errors.InputError) as caught:
                self.cut(content[:-10], 1000, name)
            self.assertIn(name, str(caught.exception))

    def test_what_is_refused(self) -> None:
        for content, says in (
            (b"a,b\n1," + b'"' + b"x\n" * (9 << 20), "line 2 is longer than 16 MiB"),
            (b"a" * (2 << 20) + b"\n1\n", "header has more than 1 MiB"),
            ("a,b\n".encode("utf-16"), "UTF-16"),
            (b"a,b\r1,2\r", "carriage returns"),
        ):
            with self.assertRaises(errors.InputError) as caught:
                self.cut(content, 1 << 20)
            self.assertIn(says, str(caught.exception))


def _records(data: bytes) -> list[bytes]:
    """Cut as docs/protocol.md says, byte by byte."""
    all_, start, at = [], 0, 0
    first = True  # a field begins
    while at < len(data):
        c = data[at : at + 1]
        if c == b'"' and first:
            at += 1
            while at < len(data) and data[at : at + 1] != b'"' or data[at : at + 2] == b'""':
                at += 2 if data[at : at + 2] == b'""' else 1
            at += 1
            if data[at : at + 1] not in (b",", b"\n"):
                end = data.find(b"\n", at)
                at = len(data) if end < 0 else end
            first = False
            continue
        first = c == b","
        at += 1
        if c == b"\n":
            all_.append(data[start:at])
            start, first = at, True
    return all_ + ([data[start:]] if start < len(data) else [])


class Finding(Directory):
    def test_nothing_is_passed_over(self) -> None:
        for name in ("a/trips.csv", "b/trips.csv.gz", "c/stations.csv", "d/trips.jsonl", ".git/trips.csv", "README.md"):
            self.write(name, b"x\n")
        found = files.find(self.dir, "*/trips.csv")
        self.assertEqual([f.name for f in found.files], ["a/trips.csv", "b/trips.csv"])
        self.assertEqual([os.path.relpath(p, self.dir) for p in found.foreign], ["d/trips.jsonl"])
        self.assertEqual([os.path.relpath(p, self.dir) for p in found.missing], ["c"])

    def test_what_may_be_meant_is_the_programs(self) -> None:
        for other in ("Trips.csv", "trips.csv.zst", "trips.csv.xz", "trips.csv.tar.gz", "trips.csv.zip", "trips.parquet", "trips.csv/x", "trips.csv.gz"):
            with self.subTest(other), tempfile.TemporaryDirectory() as self.dir:
                if not other.startswith("trips.csv/"):
                    self.write("a/trips.csv", b"x\n")
                self.write("a/" + other, b"x\n")
                self.assertEqual(len(files.find(self.dir, "*/trips.csv").foreign), 1)

    def test_files_that_are_written_in_another_way(self) -> None:
        for content, plain in (
            (b"a,b\n1,2\n", True), (b"\xef\xbb\xbfa,b\r\n", True), (b"a\n1\n", True), (b"", True),
            (b"a;b\n1;2\n", False), ("a,b\n".encode("utf-16"), False), ("a,b\n".encode("utf-16-le"), False), (b"a,b\r1,2\r", False),
        ):  # fmt: skip
            file = files.File("t.csv", self.write("t.csv", content), len(content))
            self.assertEqual(files.is_plain(file, ",", None), plain, content)
        self.assertTrue(files.is_plain(files.File("t.csv", self.write("t.csv", b"a;b\n"), 4), ",", ";"))

    def test_patterns_stay_below_the_directory(self) -> None:
        for pattern in ("../x.csv", "/etc/passwd", "a/../../x", ""):
            with self.assertRaises(errors.Error) as caught:
                files.find(self.dir, pattern)
            self.assertIn("refused", str(caught.exception))


class Answers(unittest.TestCase):
    def answer(self, types: list[str], rows: list[list[Any]]) -> posta.Result:
        gathering = result.Gathering()
        columns = [f"c{i}" for i in range(len(types))]
        gathering.query("q", columns, types)
        gathering.part({"query": "q", "columns": columns, "rows": rows, "offset": 0})
        return gathering.result("id", "sql", [])

    def test_values_are_pythons_own(self) -> None:
        got = self.answer(["DECIMAL(9, 2)", "DATE", "TIMESTAMP", "DATE", "TEXT"], [["1.50", "2024-02-29", "2024-02-29 10:00:00.5", "12024-01-01", "2024-02-29"], [None] * 5])
        self.assertEqual(got.rows[0], (Decimal("1.50"), datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 10, 0, 0, 500000), "12024-01-01", "2024-02-29"))
        self.assertEqual(got.rows[1], (None,) * 5)

    def test_parts_that_come_again(self) -> None:
        gathering = result.Gathering()
        for offset, rows in ((0, [[0], [1]]), (0, [[0], [1], [2]]), (2, [[2], [3]])):
            gathering.part({"query": "q", "columns": ["n"], "rows": rows, "offset": offset})
        self.assertEqual(gathering.result("", "", []).rows, [(0,), (1,), (2,), (3,)])
        with self.assertRaises(errors.Error):
            gathering.part({"query": "q", "columns": ["n"], "rows": [[9]], "offset": 7})

    def test_dataframes_keep_integers(self) -> None:
        types = ["BIGINT", "BIGINT", "DOUBLE", "BOOLEAN", "TIMESTAMP", "DATE", "TEXT"]
        big = 2**62 + 1
        frame = self.answer(types, [[1, big, 0.5, True, "2024-02-29 10:00:00", "0001-01-01", "x"], [2, None, None, None, None, None, None]]).to_pandas()
        self.assertEqual([str(t) for t in frame.dtypes], ["int64", "Int64", "float64", "boolean", "datetime64[ns]", "object", "object"])
        self.assertEqual(frame["c1"][0], big)
        self.assertEqual(frame["c5"][0], datetime.date(1, 1, 1))
        self.assertEqual(self.answer(types, []).to_pandas().shape, (0, 7))

    def test_arrow(self) -> None:
        got = self.answer(["BIGINT", "DECIMAL(9, 2)", "DATE", "TEXT"], [[1, "1.50", "2024-02-29", None]])
        try:
            import pyarrow
        except ImportError:  # it is not a package of Debian; what remains to be tested is what one is told
            with self.assertRaises(posta.MissingPackage) as caught:
                got.arrow()
            self.assertIn("pip install pyarrow", str(caught.exception))
            return
        table = got.arrow()
        self.assertEqual(table.schema.types, [pyarrow.int64(), pyarrow.decimal128(9, 2), pyarrow.date32(), pyarrow.string()])
        self.assertEqual(table.to_pylist(), [{"c0": 1, "c1": Decimal("1.50"), "c2": datetime.date(2024, 2, 29), "c3": None}])

    def test_packages_that_are_missing_are_named(self) -> None:
        with mock.patch.dict("sys.modules", {"pandas": None, "pyarrow": None}):
            for ask in (self.answer(["BIGINT"], []).to_pandas, self.answer(["BIGINT"], []).arrow):
                with self.assertRaises(posta.MissingPackage) as caught:
                    ask()
                self.assertIn("pip install", str(caught.exception))

    def test_notebooks_show_no_markup_of_the_data(self) -> None:
        shown = self.answer(["TEXT"], [["<script>"]])._repr_html_()
        self.assertNotIn("<script>", shown)
        self.assertIn("&lt;script&gt;", shown)

    def test_one_table_of_several_has_to_be_named(self) -> None:
        two = posta.Result("", "", {n: posta.Table(n, [], [], []) for n in ("a", "b")})
        with self.assertRaises(errors.InputError):
            two.rows  # noqa: B018
        with self.assertRaises(KeyError):
            two["c"]


class Frames(Directory):
    def test_empty_text_is_not_null(self) -> None:
        import pandas

        frame = pandas.DataFrame({"a": ["", None, 'q"uo,te'], "n": [1.5, None, 2], "t": pandas.to_datetime(["2024-02-29", None, "2024-03-01 10:00"]), "b": [True, False, True]})
        path = os.path.join(self.dir, "t.csv")
        cluster._write_csv(frame, path)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(text, '"a","n","t","b"\n"",1.5,2024-02-29 00:00:00,true\n,,,false\n"q""uo,te",2.0,2024-03-01 10:00:00,true\n')
        self.assertEqual(len(list(csv.reader(io.StringIO(text)))), 4)


class Errors(unittest.TestCase):
    def test_each_code_has_its_class(self) -> None:
        for code, kind in {"forbidden": posta.Refused, "in_use": posta.SessionInUse, "timeout": TimeoutError, "statement": posta.StatementError, "what": posta.Error}.items():
            err = errors.of(code, "words")
            self.assertIsInstance(err, kind)
            self.assertEqual((err.code, str(err)), (code, "words"))

    def test_arguments_that_cannot_be_meant(self) -> None:
        for wrong in (
            lambda: posta.connect("tcp://h:1", topology="t"),
            lambda: posta.connect("tcp://h:1", key="k"),
            lambda: posta.connect("h:1"),
            lambda: cluster._delimiter("xx"),
            lambda: cluster._delimiter('"'),
            lambda: cluster._Statement("", "data", {"t": "x"}),
            lambda: cluster._Statement("", None, {"../t": "x"}),
            lambda: cluster._Statement("", None, {"t": "nowhere.csv"}),
        ):
            with self.assertRaises(posta.InputError):
                wrong()

    def test_a_program_that_is_not_there(self) -> None:
        with mock.patch.dict("os.environ", {"POSTA_PROGRAM": "/nowhere/posta"}), self.assertRaises(posta.NoProgram) as caught:
            posta.sql("SELECT 1")
        self.assertIn("/nowhere/posta", str(caught.exception))


class Programs(Directory):
    """What another program in the place of posta does."""

    def script(self, text: str) -> str:
        path = self.write("posta", b"#!/bin/sh\n" + text.encode())
        os.chmod(path, 0o755)
        return path

    def test_answers_without_an_end_are_none(self) -> None:
        for says, want in (("printf '\\201\\244type\\246answer'; exit 0", "one version"), ("echo no events", "one version"), ("echo broken >&2; exit 7", "exit code 7: broken")):
            with self.assertRaises(posta.Error) as caught:
                posta.sql("SELECT 1", program=self.script(says))
            self.assertRegex(str(caught.exception), re.escape(want))

    def test_much_on_standard_error_does_not_block(self) -> None:
        with self.assertRaises(posta.Error) as caught:
            posta.sql("SELECT 1", program=self.script("head -c 3000000 /dev/zero | tr '\\0' x >&2; exit 1"))
        self.assertLess(len(str(caught.exception)), 70_000)

    def test_one_that_does_not_end_is_killed(self) -> None:
        # It ignores Ctrl-C, and says something that ends the talk.
        path = self.script("trap '' INT; echo no events; while :; do sleep 0.1; done")
        with mock.patch.object(program, "_STOP", 0.3), self.assertRaises(posta.Error):
            posta.sql("SELECT 1", program=path)


if __name__ == "__main__":
    unittest.main()
