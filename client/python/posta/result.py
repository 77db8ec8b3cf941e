"""Answers: tables of rows, with names and types of their columns."""

from __future__ import annotations

import datetime
import decimal
import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .errors import InputError, MissingPackage

if TYPE_CHECKING:
    import pandas
    import pyarrow

#: One row. Values are int, float, str, bool, Decimal, date, datetime, or None for NULL. A text that is not UTF-8 is bytes.
Row = tuple[Any, ...]

_SHOWN = 10  # rows of a table that is shown


@dataclass(frozen=True)
class Rejected:
    """Rows of a stream that could not be used: how many, and the first of them as (file, line, reason)."""

    rows: int
    first: list[tuple[str, int, str]]


@dataclass
class Table:
    """The answer to one query. It is iterated row by row, in the order of the answer."""

    name: str
    columns: list[str]
    types: list[str]  #: names of SQL: BIGINT, DOUBLE, DECIMAL(9, 2), TEXT, BOOLEAN, DATE, TIMESTAMP
    rows: list[Row]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column."""
        if name not in self.columns:
            raise InputError(f"{self.name} has no column {name}; it has {', '.join(self.columns)}", "usage")
        at = self.columns.index(name)
        return [row[at] for row in self.rows]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each row as a dictionary. Of columns with one name the last one stays."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> pandas.DataFrame:
        """Return a DataFrame.

        Integers and booleans with NULLs get pandas' nullable types, so no integer becomes a float. A NULL among DOUBLEs is NaN there. A time that
        pandas cannot hold (before 1677 or after 2262) leaves its column with Python's own values.
        """
        try:
            import pandas
        except ImportError as err:
            raise MissingPackage("to_pandas needs pandas: pip install pandas, or apt install python3-pandas") from err
        series = []
        for at, kind in enumerate(self.types):
            values = [row[at] for row in self.rows]
            series.append(_series(pandas, values, kind))
        if not series:
            return pandas.DataFrame(index=range(len(self.rows)))
        frame = pandas.concat(series, axis=1)
        frame.columns = pandas.Index(self.columns)  # here, because two columns may have one name
        return frame

    def arrow(self) -> pyarrow.Table:
        """Return an Arrow table, with types as in SQL."""
        try:
            import pyarrow
        except ImportError as err:
            raise MissingPackage("arrow needs pyarrow: pip install pyarrow") from err
        arrays = [pyarrow.array([row[at] for row in self.rows], type=_arrow_type(pyarrow, kind)) for at, kind in enumerate(self.types)]
        return pyarrow.Table.from_arrays(arrays, names=self.columns)

    def __repr__(self) -> str:
        cells = [self.columns] + [["NULL" if v is None else str(v) for v in row] for row in self.rows[:_SHOWN]]
        widths = [max(len(line[at]) for line in cells) for at in range(len(self.columns))]
        lines = [f"{self.name}: {len(self.rows)} row{'s' * (len(self.rows) != 1)}"]
        lines += ["  " + "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]
        if len(self.rows) > _SHOWN:
            lines.append(f"  ... and {len(self.rows) - _SHOWN} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show the first rows in a notebook."""
        head = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{'<i>NULL</i>' if v is None else html.escape(str(v))}</td>" for v in row) + "</tr>" for row in self.rows[:_SHOWN]
        )
        more = f"<p>{len(self.rows)} rows, the first {_SHOWN} are shown</p>" if len(self.rows) > _SHOWN else ""
        return f"<b>{html.escape(self.name)}</b><table><tr>{head}</tr>{body}</table>{more}"


@dataclass
class Result:
    """An answer: one table for each query. Where there is one table alone, its rows, columns and so on are the result's own."""

    session: str
    analysis: str
    tables: dict[str, Table]
    rejected: dict[str, Rejected] = field(default_factory=dict)  #: by stream; streams without rejected rows are left out
    notes: list[str] = field(default_factory=list)  #: what there is to say of the input, for people

    def __getitem__(self, name: str) -> Table:
        if name not in self.tables:
            raise KeyError(f"there is no query {name}; there is {', '.join(self.tables)}")
        return self.tables[name]

    @property
    def table(self) -> Table:
        """The only table."""
        if len(self.tables) != 1:
            raise InputError(f"the answer has {len(self.tables)} tables; name one: result[{next(iter(self.tables), '')!r}]", "usage")
        return next(iter(self.tables.values()))

    @property
    def rows(self) -> list[Row]:
        """The rows of the only table."""
        return self.table.rows

    @property
    def columns(self) -> list[str]:
        """The columns of the only table."""
        return self.table.columns

    @property
    def types(self) -> list[str]:
        """The types of the only table's columns."""
        return self.table.types

    def __iter__(self) -> Iterator[Row]:
        return iter(self.table)

    def __len__(self) -> int:
        return len(self.table)

    def column(self, name: str) -> list[Any]:
        """Return the values of one column of the only table."""
        return self.table.column(name)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return each row of the only table as a dictionary."""
        return self.table.to_dicts()

    def to_pandas(self) -> pandas.DataFrame:
        """Return the only table as a DataFrame (see Table.to_pandas)."""
        return self.table.to_pandas()

    def arrow(self) -> pyarrow.Table:
        """Return the only table as an Arrow table."""
        return self.table.arrow()

    def __repr__(self) -> str:
        lines = [repr(table) for table in self.tables.values()]
        lines += [f"{stream}: {r.rows} row{'s' * (r.rows != 1)} rejected" for stream, r in self.rejected.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Show all tables in a notebook."""
        rejected = "".join(f"<p>{html.escape(stream)}: {r.rows} rows rejected</p>" for stream, r in self.rejected.items())
        return "".join(table._repr_html_() for table in self.tables.values()) + rejected


class Gathering:
    """Rows of an answer as they come: in parts, which may come again."""

    def __init__(self) -> None:
        self.count = 0
        self._columns: dict[str, list[str]] = {}
        self._types: dict[str, list[str]] = {}
        self._rows: dict[str, list[Row]] = {}
        self.rejected: dict[str, Rejected] = {}
        self.notes: list[str] = []

    def query(self, name: str, columns: list[str], types: list[str]) -> None:
        """Take the head of a query."""
        self._columns[name] = columns
        if types:
            self._types[name] = types
        self._rows.setdefault(name, [])

    def part(self, part: dict[str, Any]) -> None:
        """Take a part. Rows that are here already are skipped: every output cuts its parts at other places."""
        if not part["query"]:
            for stream, said in (part.get("rejected") or {}).items():
                if said["rows"]:
                    self.rejected[stream] = Rejected(said["rows"], [(r["file"], r["line"], r["reason"]) for r in said["first"]])
            return
        name = part["query"]
        self.query(name, part["columns"], [])
        rows, offset = self._rows[name], part.get("offset", 0)
        if offset > len(rows):
            raise InputError(f"rows {len(rows)} to {offset} of query {name} are missing", "bad_reply")
        fresh = part["rows"][len(rows) - offset :]
        convert = _converters(self._types.get(name))
        rows += [convert(row) for row in fresh]
        self.count += len(fresh)

    def result(self, session: str, analysis: str, order: list[str]) -> Result:
        """Return the answer, its queries in the order that is given."""
        names = [n for n in order if n in self._rows] + [n for n in self._rows if n not in order]
        tables = {n: Table(n, self._columns[n], self._types.get(n) or _guessed(self._columns[n], self._rows[n]), self._rows[n]) for n in names}
        return Result(session, analysis, tables, self.rejected, self.notes)


def _guessed(columns: list[str], rows: list[Row]) -> list[str]:
    """Return the types of an analysis' columns, which says none, by its values."""
    kinds = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
    types = []
    for at in range(len(columns)):
        seen = {type(row[at]) for row in rows} - {type(None)}
        types.append("DOUBLE" if seen == {int, float} else kinds.get(seen.pop(), "TEXT") if len(seen) == 1 else "TEXT")
    return types


def _converters(types: list[str] | None) -> Callable[[list[Any]], Row]:
    """Return what makes Python's values of a row as it is sent: dates, times and DECIMALs come as text."""
    special = [(at, c) for at, kind in enumerate(types or []) if (c := _converter(kind))]
    if not special:
        return tuple

    def convert(row: list[Any]) -> Row:
        for at, to in special:
            if isinstance(row[at], str):
                row[at] = to(row[at])
        return tuple(row)

    return convert


def _converter(kind: str) -> Callable[[str], Any] | None:
    if kind == "DATE":
        return _unless_out_of_range(datetime.date.fromisoformat)
    if kind == "TIMESTAMP":
        return _unless_out_of_range(datetime.datetime.fromisoformat)
    if kind.startswith("DECIMAL"):
        return decimal.Decimal
    return None


def _unless_out_of_range(parse: Callable[[str], Any]) -> Callable[[str], Any]:
    """Leave text what Python has no value for, like a year above 9999: that is not a reason to lose an answer."""

    def to(text: str) -> Any:
        try:
            return parse(text)
        except ValueError:
            return text

    return to


def _series(pandas: Any, values: list[Any], kind: str) -> Any:
    nulls = any(v is None for v in values)
    if kind in ("DATE", "TIMESTAMP"):
        try:
            return pandas.Series(pandas.to_datetime(values), dtype="datetime64[ns]")
        except (ValueError, OverflowError, TypeError):  # pandas' own error is a ValueError
            return pandas.Series(values, dtype="object")
    plain = {"BIGINT": "Int64" if nulls else "int64", "DOUBLE": "float64", "BOOLEAN": "boolean" if nulls else "bool"}
    return pandas.Series(values, dtype=plain.get(kind, "object"))


def _arrow_type(pyarrow: Any, kind: str) -> Any:
    if kind.startswith("DECIMAL("):
        digits, scale = kind[len("DECIMAL(") : -1].split(",")
        return pyarrow.decimal128(int(digits), int(scale))
    plain = {"BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "bool_", "DATE": "date32", "TEXT": "string"}
    if kind == "TIMESTAMP":
        return pyarrow.timestamp("us")
    return getattr(pyarrow, plain[kind])() if kind in plain else None
