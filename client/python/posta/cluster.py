"""What a user sees: connect to a cluster, ask it SQL, run its analyses, look after its sessions."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from . import errors, files, program, progress, session, wire
from .result import Result

PathLike: TypeAlias = str | os.PathLike[str]

#: A table's file or files, or a DataFrame, which is written as CSV.
Source: TypeAlias = Any

_TABLE = re.compile(r"[^/\0]+")


@dataclass(frozen=True)
class Param:
    """A parameter of an analysis."""

    name: str
    default: str
    about: str


@dataclass(frozen=True)
class Analysis:
    """An analysis that the cluster has."""

    name: str
    about: str
    params: tuple[Param, ...]
    streams: dict[str, str]  #: which files each stream is: a pattern below the directory of the data
    queries: tuple[str, ...]


@dataclass(frozen=True)
class Session:
    """A session that the cluster knows."""

    id: str
    analysis: str
    state: str  #: running, done or failed
    owner: str  #: "" for the local operator
    age: float  #: seconds
    rows: int  #: of the files, that the cluster has taken in
    bytes: int


class Cluster:
    """A running cluster. Use `connect` to get one, and `with` to close it."""

    def __init__(self, entry: str, arguments: list[str], program_path: PathLike | None, connection: program.Connection | None, patience: float) -> None:
        self._entry, self._arguments, self._program, self._patience = entry, arguments, program_path, patience
        self._connection = connection
        self._end = weakref.finalize(self, connection.close) if connection else None
        about = self._info()
        self.name: str = about.get("cluster", "")  #: of the cluster, as its topology says
        self.version: str = about.get("version", "")  #: of the program there

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<cluster {self.name} at {self._entry}>"

    def close(self) -> None:
        """Let go of the cluster. Sessions that run there are not ended."""
        if self._end is not None:
            self._end()

    def analyses(self) -> list[Analysis]:
        """Return the analyses that the cluster has."""
        return [
            Analysis(
                a["name"],
                a.get("about", ""),
                tuple(Param(p["name"], p.get("default", ""), p.get("about", "")) for p in a.get("params") or []),
                {s["name"]: s["files"] for s in a.get("streams") or []},
                tuple(a.get("queries") or ()),
            )
            for a in self._info().get("analyses") or []
        ]

    def run(
        self,
        analysis: str,
        data: PathLike | None = None,
        *,
        files: Mapping[str, PathLike] | None = None,
        params: Mapping[str, Any] | None = None,
        delimiter: str | None = None,
        max_rejected: int | None = None,
        timeout: float | None = None,
        wait: bool = True,
        session: str | None = None,
        resume: str | None = None,
        progress: progress.Callback | bool | None = None,
    ) -> Result:
        """Run an analysis over the files of a directory, and return its answer. Each row counts exactly once, or there is an error.

        analysis      one of `analyses()`
        data          the directory that holds the files
        files         files in place of those of data: {"trips": "more/trips.csv"}
        params        parameters of the analysis, by name
        delimiter     the character between the columns, where it is not the analysis' own
        max_rejected  raise RowsRejected if more rows than this cannot be used; None: any number
        timeout       seconds after which the session is cancelled and Timeout raised
        wait          wait while the cluster has no room; else Busy is raised
        session       the id of the session, a UUID; None: a new one. One id is one run: a second one under it gets SessionInUse or SessionGone
        resume        continue with this session, whose client is gone, with the same files: what the cluster has is not sent again
        progress      a function that is called with Progress; True or False: show a line or none; None: where people look

        Ctrl-C cancels the session. So does every error, but for SessionInUse, when the session is another client's, and NoCluster.

        CSV, plain or packed by gzip or bzip2, is read here and sent over the wire. For anything else (other forms of files, `files`, `resume`) the
        program posta does it, which must be there then.
        """
        if data is None and not files:
            raise errors.InputError("where are the files? Give their directory with data=", "usage")
        delimiter = _delimiter(delimiter)
        show = _progress.callback(progress)
        given = {name: program.text_of(value) for name, value in (params or {}).items()}
        try:
            if files or resume or self._needs_program(analysis, data, delimiter):
                return self._run_by_program(analysis, data, files, given, delimiter, max_rejected, timeout, wait, session, resume, show)
            return _session.Run(
                self._entry, self._info(), analysis, given, os.fspath(data or "."), wire.Talk(max(self._patience, wire.PATIENCE), timeout),
                session=session or "", delimiter=delimiter, wait=wait, max_rejected=max_rejected, show=show,
            ).run()  # fmt: skip
        finally:
            _progress.close(show)

    def sql(
        self,
        statement: str,
        data: PathLike | None = None,
        *,
        files: Mapping[str, Source] | None = None,
        params: Mapping[str, Any] | None = None,
        delimiter: str | None = None,
        max_rejected: int | None = None,
        timeout: float | None = None,
        progress: progress.Callback | bool | None = None,
    ) -> Result:
        """Answer SQL over files on this cluster, and return the answer. It needs the program posta, which compiles statements.

        statement     one statement, or several with ; between them, each with `-- name: NAME` in front to name its answer
        data          the directory of the files: FROM trips reads trips.csv there, or trips/*.csv. None: the working directory
        files         tables in place of a directory: {"trips": "x/trips.csv.gz"}, a list of files, or a DataFrame
        params        values of $name or :name in the statement, which are never read as SQL

        The rest is as in `run`.
        """
        return _sql(self._program, ["submit"], self._arguments, statement, data, files, params, delimiter, max_rejected, timeout, progress)

    def explain(self, statement: str, data: PathLike | None = None, *, files: Mapping[str, Source] | None = None, params: Mapping[str, Any] | None = None) -> str:
        """Return what would be read for a statement, and where it would be computed."""
        return explain(statement, data, files=files, params=params, program=self._program)

    def sessions(self) -> list[Session]:
        """Return the sessions that the nodes know, oldest first. A client with the role submit sees its own."""
        known: dict[str, Session] = {}
        for said in self._everywhere({"type": "sessions"}).values():
            if isinstance(said, wire.Refusal):
                raise said.error()
            for s in said.get("sessions") or [] if said else []:
                one = Session(s["session"], s.get("analysis", ""), s.get("state", ""), s.get("owner", ""), s.get("age_ms", 0) / 1000, s.get("rows", 0), s.get("bytes", 0))
                before = known.get(one.id)
                if before is not None:  # each input counts what it has taken itself
                    state = one.state if before.state == "running" else before.state
                    one = Session(one.id, one.analysis or before.analysis, state, one.owner, max(one.age, before.age), one.rows + before.rows, one.bytes + before.bytes)
                known[one.id] = one
        return sorted(known.values(), key=lambda s: -s.age)

    def cancel(self, session: str) -> None:
        """Cancel a session, whichever client has opened it. It is not an error if it is over, or nobody knows it."""
        self._say_to_all({"type": "cancel", "session": session, "force": True})

    def forget(self, session: str) -> None:
        """Have the cluster drop the answers of a session."""
        self._say_to_all({"type": "close", "session": session, "force": True})

    def results(self, session: str, *, timeout: float | None = None, progress: progress.Callback | bool | None = None) -> Result:
        """Return the answers of a session, whichever client has run it, as long as the cluster keeps them. Wait if it still runs."""
        about = self._info()
        known = next((s for s in self.sessions() if s.id == session), None)
        if known is None:
            raise errors.SessionGone(f"no node has session {session}; sessions() lists them", "unknown_session")
        queries = next((a.queries for a in self.analyses() if a.name == known.analysis), ())
        show = _progress.callback(progress)
        try:
            return _session.fetch(self._entry, about, session, known.analysis, list(queries), wire.Talk(max(self._patience, wire.PATIENCE), timeout), show)
        finally:
            _progress.close(show)

    def _info(self) -> wire.Reply:
        line = wire.Line(self._entry, wire.Talk(self._patience, None))
        try:
            return line.ask({"type": "info"})
        except wire.Refusal as refusal:
            raise refusal.error() from None
        finally:
            line.close()

    def _everywhere(self, request: dict[str, Any]) -> dict[str, wire.Reply | wire.Refusal | None]:
        about = self._info()
        return wire.tell_all(wire.beside(self._entry, about["inputs"] + about["outputs"], wire.names(about)), request)

    def _say_to_all(self, request: dict[str, Any]) -> None:
        answers = self._everywhere(request)
        for said in answers.values():
            if isinstance(said, wire.Refusal) and said.code in ("forbidden", "bad_request"):
                raise said.error()
        silent = [endpoint for endpoint, said in answers.items() if said is None]
        if silent:
            raise errors.NoCluster(f"{request['type']}: no answer from {', '.join(silent)}; say it again", "no_cluster")

    def _needs_program(self, analysis: str, data: PathLike | None, delimiter: str | None) -> bool:
        """Report whether the directory has files that this package does not read."""
        directory = os.fspath(data or ".")
        if not os.path.isdir(directory):
            if os.path.exists(directory):
                return True  # one file
            raise errors.InputError(f"look for the data: there is no directory {directory}; give the one that holds the files with data=", "input")
        streams: list[dict[str, Any]] = next((a.get("streams") or [] for a in self._info().get("analyses") or [] if a["name"] == analysis), [])
        for stream in streams:
            found = _files.find(directory, stream["files"])
            if found.foreign or not all(_files.is_plain(f, stream.get("comma") or ",", delimiter) for f in found.files):
                return True
        return False

    def _run_by_program(
        self, analysis: str, data: PathLike | None, files: Mapping[str, PathLike] | None, params: dict[str, str], delimiter: str | None,
        max_rejected: int | None, timeout: float | None, wait: bool, session: str | None, resume: str | None, show: progress.Callback | None,
    ) -> Result:  # fmt: skip
        path = program.find(self._program, "this run (files that are not plain CSV, files= or resume=)")
        words = [path, "submit", analysis, *self._arguments]
        words += program.flags(
            params, data=data and os.fspath(data), delimiter=delimiter, max_rejected=max_rejected, timeout=_seconds(timeout), no_wait=not wait, session=session, resume=resume
        )
        for name, file in (files or {}).items():
            words += ["--file", f"{name}={os.fspath(file)}"]
        result, _ = program.ask(words, show)
        assert result is not None
        return result


def connect(
    entry: str | None = None, *, key: PathLike | None = None, topology: PathLike | None = None, program: PathLike | None = None, patience: float = 5.0
) -> Cluster:
    """Return a running cluster.

    entry     any input or output of it: "tcp://host:5500", or "ipc:///run/user/1000/posta/input-1.client", a socket of `posta up` or `posta connect`
    topology  the cluster's file in place of an entry; without both, the one that POSTA_TOPOLOGY names, or topology.toml of the working directory.
              The program posta finds the cluster by it, and reaches one that has keys
    key       the directory of your key, for a cluster with keys; needs the topology
    program   the program posta, where it is not on the PATH and POSTA_PROGRAM does not name it
    patience  seconds after which a cluster that says nothing at all is given up; once a session runs, a minute at least

    Raises NoCluster if nothing answers, Refused if it does not let you in.
    """
    if entry is not None and topology is not None:
        raise errors.InputError("entry and topology both say where the cluster is; give one of the two", "usage")
    if entry is not None:
        if key is not None:
            raise errors.InputError("a cluster with keys is reached by its topology: give topology= beside key=, in place of the entry", "usage")
        return Cluster(entry, ["--entry", entry], program, None, patience)
    path = _program.find(program, "a cluster that is given by its topology")
    file = os.fspath(topology or os.environ.get("POSTA_TOPOLOGY") or "topology.toml")
    arguments = ["--topology", file, *(["--key", os.fspath(key)] if key is not None else [])]
    entries: list[str] = json.loads(_program.lines([path, "topology", "show", "--json", "--topology", file]))["entry_points"]
    connection = None
    if any(e.startswith("tcp:") for e in entries):
        try:
            connection = _program.Connection(path, arguments, max(patience, 5.0))
        except errors.InputError as err:
            if "has no keys" not in str(err):
                raise
    try:
        return Cluster(connection.entry if connection else entries[0], arguments, program, connection, patience)
    except BaseException as err:
        if connection:
            connection.close()
            if isinstance(err, errors.NoCluster):
                _why_refused(path, arguments)
        raise


def _why_refused(path: str, arguments: list[str]) -> None:
    """Raise Refused if a cluster with keys is silent because it does not let this user in: the program is told why, sockets are not."""
    try:
        _program.lines([path, "sessions", *arguments])
    except errors.InputError as err:
        raise errors.Refused(str(err), "refused") from None
    except errors.Error:
        pass  # it is as silent to the program


def sql(
    statement: str,
    data: PathLike | None = None,
    *,
    files: Mapping[str, Source] | None = None,
    params: Mapping[str, Any] | None = None,
    delimiter: str | None = None,
    max_rejected: int | None = None,
    timeout: float | None = None,
    progress: progress.Callback | bool | None = None,
    program: PathLike | None = None,
    replicas: str | None = None,
) -> Result:
    """Answer SQL over files without a running cluster: the program starts one for this statement, and ends it. Otherwise as `Cluster.sql`.

    replicas  processes of a stage, like "joiner=3,aggregator=2" or "all=2"
    """
    own = _program.flags(None, replicas=replicas)
    return _sql(program, ["sql", "--questions"], own, statement, data, files, params, delimiter, max_rejected, timeout, progress)


def explain(
    statement: str,
    data: PathLike | None = None,
    *,
    files: Mapping[str, Source] | None = None,
    params: Mapping[str, Any] | None = None,
    program: PathLike | None = None,
) -> str:
    """Return what would be read for a statement, and where it would be computed."""
    with _Statement(statement, data, files) as asked:
        path = _program.find(program, "SQL")
        _, text = _program.ask([path, "sql", "--explain", "--questions", asked.file, *_program.flags(params, data=asked.directory)], None)
    return text


def _sql(
    program: PathLike | None, command: Sequence[str], where: Sequence[str], statement: str, data: PathLike | None, files: Mapping[str, Source] | None,
    params: Mapping[str, Any] | None, delimiter: str | None, max_rejected: int | None, timeout: float | None, progress: progress.Callback | bool | None,
) -> Result:  # fmt: skip
    path = _program.find(program, "SQL")
    show = _progress.callback(progress)
    try:
        with _Statement(statement, data, files) as asked:
            options = _program.flags(params, data=asked.directory, delimiter=delimiter, max_rejected=max_rejected, timeout=_seconds(timeout))
            result, _ = _program.ask([path, *command, asked.file, *where, *options], show)
    finally:
        _progress.close(show)
    if result is None:
        raise errors.Error("the program ended without an answer: are it and this package of one version?", "bad_reply")
    return result


class _Statement:
    """A statement in a file, and the directory with its tables."""

    def __init__(self, statement: str, data: PathLike | None, files: Mapping[str, Source] | None) -> None:
        if data is not None and files:
            raise errors.InputError("data and files both say where the tables are; give one of the two", "usage")
        self._temporary = tempfile.mkdtemp(prefix="posta-sql-")
        try:
            self.file = os.path.join(self._temporary, "statement.sql")
            Path(self.file).write_text(statement, encoding="utf-8")
            self.directory = os.fspath(data) if data is not None else "."
            if files:
                self.directory = os.path.join(self._temporary, "data")
                os.mkdir(self.directory)
                for name, source in files.items():
                    self._place(name, source)
        except BaseException:
            shutil.rmtree(self._temporary, ignore_errors=True)
            raise

    def __enter__(self) -> _Statement:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)

    def _place(self, name: str, source: Source) -> None:
        """Put a table where the program looks for it: a link to its file, or to each of its files, or a DataFrame's rows."""
        if not _TABLE.fullmatch(name) or name.startswith("."):
            raise errors.InputError(f"files: {name!r} is not a name of a table", "usage")
        if hasattr(source, "to_csv"):
            _write_csv(source, os.path.join(self.directory, name + ".csv"))
        elif isinstance(source, (str, os.PathLike)):
            self._link(source, name)
        else:
            os.mkdir(os.path.join(self.directory, name))
            for at, file in enumerate(source):
                self._link(file, os.path.join(name, f"{at:06d}"))

    def _link(self, file: PathLike, name: str) -> None:
        path = os.path.abspath(os.fspath(file))
        if not os.path.isfile(path):
            raise errors.InputError(f"files: there is no file {os.fspath(file)}", "input")
        forms = re.search(r"(\.[A-Za-z0-9]+){1,2}$", os.path.basename(path))
        os.symlink(path, os.path.join(self.directory, name + (forms.group() if forms else ".csv")))


def _write_csv(frame: Any, path: str) -> None:
    """Write a DataFrame. Its own to_csv does not tell an empty text from a missing one: here the first is quoted, and a field of the other empty."""
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write(",".join(_quoted(str(c)) for c in frame.columns) + "\n")
        for row in frame.itertuples(index=False, name=None):
            out.write(",".join(_field(v) for v in row) + "\n")


def _field(value: Any) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None or value != value or str(value) == "<NA>":  # NaN and NaT are not equal to themselves
        return ""
    if isinstance(value, (list, dict)):
        return _quoted(json.dumps(value))
    return str(value).lower() if str(value) in ("True", "False") else _quoted(str(value)) if "," in str(value) else str(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _delimiter(given: str | None) -> str | None:
    named = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}.get(given or "", given)
    if named is not None and (len(named) != 1 or named == '"' or not (named == "\t" or " " <= named <= "~")):
        raise errors.InputError(f"delimiter {given!r}: give one character of ASCII, or comma, semicolon, tab or pipe", "usage")
    return named


def _seconds(timeout: float | None) -> str | None:
    return None if timeout is None else f"{timeout:.3f}s"


# Parameters of functions here have the names of these modules, because they are a user's words.
_files, _session, _program, _progress = files, session, program, progress
