"""One session over the wire: open, upload, results, close. What is said, and why, is in docs/protocol.md.

The main thread decides, each lane and each input's pings have a thread of their own. A thread that fails says so and stops all others.
"""

from __future__ import annotations

import contextlib
import threading
import time
import uuid
from collections.abc import Iterator
from typing import Any

from . import errors, files, progress, wire
from .result import Gathering, Result

LANES = 4  #: chunks under way at once, at least
_POLL = 1.0  # seconds that an output waits for something new
_REASON = 2.0  # seconds in which a session's reason to fail has come through the cluster
_LOST = 5.0  # seconds in which an answer may still be on its way to an output

#: Sessions that end with these are another client's, or this one may not touch them: they are not cancelled.
_NOT_OURS = ("in_use", "finished", "superseded", "forbidden")


class _Lane(wire.Line):
    """A connection that carries chunks to one input, numbered 1, 2, 3, ... over all streams."""

    def __init__(self, endpoint: str, talk: wire.Talk, number: int) -> None:
        super().__init__(endpoint, talk)
        self.number = number
        self.seq = 0  # of the last chunk that was said
        self.acked = 0  # of the last one that the input has made durable


class _Stream:
    """A stream of the analysis, and how far it is."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.name: str = told["name"]
        self.pattern: str = told["files"]
        self.comma: str = told.get("comma") or ","
        self.files: list[files.File] = []
        self.counter = files.Counter()
        self.acked = 0
        self.ended = False

    def view(self) -> progress.Stream:
        return progress.Stream(self.name, len(self.files), self.counter.read, self.counter.total, self.acked, self.ended)


class Run:
    """Runs one analysis, from the first question to the last row."""

    def __init__(
        self,
        entry: str,
        about: dict[str, Any],
        analysis: str,
        params: dict[str, str],
        directory: str,
        talk: wire.Talk,
        *,
        session: str = "",
        delimiter: str | None = None,
        wait: bool = True,
        max_rejected: int | None = None,
        show: progress.Callback | None = None,
    ) -> None:
        self._entry, self._about, self._talk, self._show = entry, about, talk, show
        self._analysis, self._params, self._directory = analysis, params, directory
        self._delimiter, self._wait, self._max_rejected = delimiter, wait, max_rejected
        self.session = session or str(uuid.uuid4())
        self._ours: dict[str, Any] = {"session": self.session, "token": wire.new_token()}
        self._lock = threading.Lock()  # guards the fields that threads share: work, acked bytes, failure
        self._failure: BaseException | None = None
        self._state = "connecting"
        self._streams: list[_Stream] = []
        self._lanes: list[_Lane] = []
        self._ended: dict[str, str] = {}  # by input: the last stream whose end it has acknowledged
        self._threads: list[threading.Thread] = []
        self._answer = Gathering()
        self._names: dict[str, str] = {}  # of nodes, by the endpoints that the cluster tells
        self._told = 0.0  # when progress was told last
        self._follow(about)

    def run(self) -> Result:
        """Return the answer. Whatever goes wrong, the session is cancelled, unless it is another client's."""
        last_word = "cancel"
        try:
            opened = self._all()
            last_word = "close"
            self._check_rejected()
            return self._answer.result(self.session, self._analysis, opened.get("queries") or [])
        except wire.Refusal as refusal:
            if refusal.code in _NOT_OURS:
                last_word = ""
            raise refusal.error() from None
        except errors.NoCluster:
            last_word = ""  # there is nobody to tell
            raise
        except errors.Error as err:
            if err.code in _NOT_OURS:
                last_word = ""
            raise
        finally:
            self._stop()
            if last_word:
                wire.tell_all(self._inputs + self._outputs, {"type": last_word, **self._ours})

    def fetch(self, queries: list[str]) -> Result:
        """Return the answer of a session that is there, without its token."""
        self._ours = {"session": self.session}
        try:
            self._results()
        except wire.Refusal as refusal:
            raise refusal.error() from None
        return self._answer.result(self.session, self._analysis, queries)

    def _all(self) -> wire.Reply:
        try:
            opened = self._open()
            if opened.get("lanes") or opened.get("ended"):
                raise errors.SessionInUse(f"session {self.session} has rows of another run; take another id", "in_use")
            self._upload(opened)
            self._results()
            return opened
        except wire.Stopped:  # a thread has failed: that is why
            self._raise_failure()
            raise

    def _stop(self) -> None:
        self._talk.over.set()
        for thread in self._threads:
            thread.join()
        for lane in self._lanes:
            lane.close()

    def _follow(self, about: dict[str, Any]) -> bool:
        """Take over where the inputs and outputs are. Report whether that has changed."""
        # A reply to `open` need not name the nodes: those that the entry has named keep their names.
        self._names |= wire.names(about)
        inputs, outputs = (wire.beside(self._entry, about.get(role) or [], self._names) for role in ("inputs", "outputs"))
        if not inputs or not outputs:
            raise errors.Error(f"the cluster has {len(inputs)} inputs and {len(outputs)} outputs; an analysis needs one of each", "bad_reply")
        changed = (inputs, outputs) != (getattr(self, "_inputs", None), getattr(self, "_outputs", None))
        self._inputs, self._outputs = inputs, outputs
        return changed

    # Opening

    def _open(self) -> wire.Reply:
        """Open the session at every input, in their order: the first one decides who has to wait."""
        request = {"type": "open", **self._ours, "analysis": self._analysis, "params": self._params}
        at, first = 0, wire.Reply()
        alive: set[str] = set()
        while at < len(self._inputs):
            endpoint = self._inputs[at]
            line = wire.Line(endpoint, self._talk)
            try:
                opened = line.ask(request)
            except wire.Refusal as refusal:
                if refusal.code != "busy" or not self._wait:
                    raise
                self._state = "waiting for the cluster to have room"
                self._tell()
                self._talk.pause(wire.jitter(max(refusal.retry_after or 1.0, 0.01)))
                continue
            finally:
                line.close()
            if endpoint not in alive:  # from now on it must not miss this client, however long the next input takes
                alive.add(endpoint)
                self._start(self._keep_alive, endpoint, opened["client_timeout_ms"] / 4000)
            if at == 0:
                first = opened
                if self._follow(opened):
                    continue  # the cluster was changed meanwhile; opening a session again does not make a second one
            at += 1
        return first

    def _keep_alive(self, endpoint: str, every: float) -> None:
        """Ping an input. A ping says what it has acknowledged: if it lost any of that, it fails the session at once."""
        line = wire.Line(endpoint, self._talk)
        try:
            while True:
                self._talk.pause(every)
                lanes = [[lane.number, lane.acked] for lane in self._lanes if lane.endpoint == endpoint and lane.acked]
                claims: dict[str, Any] = {"lanes": lanes, **({"stream": self._ended[endpoint]} if endpoint in self._ended else {}), **self._files_read()}
                with contextlib.suppress(wire.Silent):
                    reply = line.ask({"type": "ping", **self._ours, **claims}, once=True)
                    if reply.get("state") == "failed" and self._state == "uploading":  # later the outputs decide: one may have the answer
                        raise errors.SessionFailed(f"the session failed: {reply.get('reason', '')}", "failed")
        except wire.Refusal as refusal:
            if refusal.code == "superseded" or self._state == "uploading":
                raise self._explained(refusal) from None
        finally:
            line.close()

    def _files_read(self) -> dict[str, int]:
        """Return how many bytes of the files were read, so that others see it in the cluster's status."""
        if not self._lanes:  # the files have not all been found yet
            return {}
        return {"files_read": sum(stream.counter.read for stream in self._streams), "files_size": sum(stream.counter.total for stream in self._streams)}

    # Uploading

    def _find(self, told: list[dict[str, Any]]) -> None:
        self._streams = [_Stream(s) for s in told]
        for stream in self._streams:
            found = files.find(self._directory, stream.pattern)
            if not found.files:
                raise errors.InputError(f"files of stream {stream.name}: nothing below {self._directory} matches {stream.pattern}", "input")
            stream.files, stream.counter.total = found.files, sum(f.size for f in found.files)
            name = stream.pattern.rsplit("/", 1)[-1]
            self._answer.notes += [f"warning: {at}: there is no {name} here, packed or plain, but there is one in a directory beside this one; its rows will be missing" for at in found.missing]

    def _upload(self, opened: wire.Reply) -> None:
        self._find(opened["streams"])
        self._lanes = [_Lane(self._inputs[i % len(self._inputs)], self._talk, i) for i in range(min(max(LANES, len(self._inputs)), 1024))]
        self._state = "uploading"
        for stream in self._streams:
            work = self._work(stream, opened["chunk"])
            carriers = [self._start(self._carry, lane, stream, work) for lane in self._lanes]
            while any(thread.is_alive() for thread in carriers):
                self._wait_a_moment(next(thread for thread in carriers if thread.is_alive()))
            self._raise_failure()
            self._end(stream)

    def _work(self, stream: _Stream, size: int) -> Iterator[dict[str, Any]]:
        for file in stream.files:
            stream.counter.files += 1
            yield from files.chunks(file, stream.comma, self._delimiter, size, stream.counter)

    def _carry(self, lane: _Lane, stream: _Stream, work: Iterator[dict[str, Any]]) -> None:
        """Send chunks until there is no more work. Lanes pull, so a slow input delays only the chunk that its lane holds."""
        while True:
            with self._lock:
                chunk = next(work, None)
            if chunk is None:
                return
            lane.seq += 1
            try:
                reply = lane.ask({"type": "chunk", **self._ours, "stream": stream.name, "lane": lane.number, "seq": lane.seq, **chunk})
            except wire.Refusal as refusal:
                raise self._explained(refusal, f"send {chunk['file']} from line {chunk['line']}: ") from None
            if (reply.get("lane"), reply.get("seq")) != (lane.number, lane.seq):
                raise errors.Error(f"{lane.endpoint} acknowledges another chunk than the one that was sent", "bad_reply")
            lane.acked = lane.seq
            with self._lock:
                stream.acked += len(chunk["data"])

    def _end(self, stream: _Stream) -> None:
        """Say to every input that it has all of a stream, also to those that got nothing of it."""
        for endpoint in self._inputs:
            lanes = [[lane.number, lane.seq] for lane in self._lanes if lane.endpoint == endpoint and lane.seq]
            line = wire.Line(endpoint, self._talk)
            try:
                line.ask({"type": "end", **self._ours, "stream": stream.name, "lanes": lanes})
            except wire.Refusal as refusal:
                raise self._explained(refusal, f"end of {stream.name}: ") from None
            finally:
                line.close()
            self._ended[endpoint] = stream.name
            self._tell()
        stream.ended = True

    def _explained(self, refusal: wire.Refusal, where: str = "") -> Exception:
        """Return why an input refuses what it took a moment ago. As a rule its node came back with a new disk: the outputs hear of that soon."""
        if refusal.code not in ("gap", "bad_request", "unknown_session"):
            return errors.of(refusal.code, where + str(refusal)) if where else refusal
        end = time.monotonic() + _REASON
        while time.monotonic() < end and not self._talk.over.is_set():
            for said in wire.tell_all(self._outputs, {"type": "results", **self._ours, "after": 0, "wait_ms": 0}, 0.5).values():
                if isinstance(said, wire.Refusal) and said.code == "superseded":
                    return said
                if isinstance(said, wire.Reply) and said.get("state") == "failed":
                    return errors.SessionFailed(f"the session failed: {said.get('reason', '')}", "failed")
            self._talk.over.wait(0.1)
        return errors.of(refusal.code, f"{where}{refusal}; it was open there: the node lost its data, or somebody closed the session; run it again")

    # Results

    def _results(self) -> None:
        """Ask one output after the other for the rest of the answer. One that failed to keep it says nothing of the others."""
        self._state = "computing"
        verdicts: dict[str, wire.Refusal | errors.Error] = {}
        silent: dict[str, int] = {}
        unknown_since = 0.0
        at = 0
        while True:
            output = self._outputs[at % len(self._outputs)]
            try:
                self._from(output, verdicts, silent)
                return
            except wire.Silent:
                silent[output] = silent.get(output, 0) + 1
                self._talk.retries += 1
                if time.monotonic() - self._talk.heard > self._talk.patience:
                    raise errors.NoCluster(
                        f"no cluster answers at {', '.join(self._outputs)} for {self._talk.patience:g} s; what was sent is safe, ask again for session {self.session}", "no_cluster"
                    ) from None
                if (at + 1) % len(self._outputs) == 0:
                    self._locate()
            except wire.Refusal as refusal:
                if refusal.code == "superseded":
                    raise
                if refusal.code == "unknown_session":
                    self._check_unknown(refusal, output, verdicts)
                    self._talk.pause(refusal.retry_after or 0.1)
                elif refusal.code != "wrong_node":
                    verdicts[output] = refusal
            except errors.SessionFailed as failed:
                verdicts[output] = failed
            at += 1
            if all(o in verdicts or silent.get(o, 0) >= 3 for o in self._outputs) and verdicts:
                known = [v for v in verdicts.values() if getattr(v, "code", "") != "unknown_session"]
                unknown_since = unknown_since or time.monotonic()
                if known or time.monotonic() - unknown_since > _LOST:
                    raise (known or list(verdicts.values()))[0]
            self._raise_failure()
            self._tell()

    def _from(self, output: str, verdicts: dict[str, Any], silent: dict[str, int]) -> None:
        """Take all parts from one output. Each numbers its parts itself, so the first question is for all of them."""
        line = wire.Line(output, self._talk)
        after = 0
        try:
            while True:
                request = {"type": "results", **self._ours, "after": after, "wait_ms": int(1000 * _POLL)}
                reply = line.ask(request, wait=_POLL + wire.TRY, once=True)
                if reply.get("state") == "failed":
                    raise errors.SessionFailed(f"the session failed: {reply.get('reason', '')}", "failed")
                verdicts.pop(output, None)
                silent.pop(output, None)
                for part in reply.get("parts") or []:
                    self._answer.part(part)
                    after = part["n"]
                self._raise_failure()
                self._tell()
                if reply.get("done"):
                    return
        finally:
            line.close()

    def _check_unknown(self, refusal: wire.Refusal, output: str, verdicts: dict[str, Any]) -> None:
        """Ask an input what it means that an output does not know the session: before its first record has come down, nothing."""
        line = wire.Line(self._inputs[0], self._talk)
        try:
            reply = line.ask({"type": "ping", **self._ours})
        finally:
            line.close()
        if reply.get("state") == "done":
            verdicts[output] = refusal
        else:
            verdicts.pop(output, None)

    def _locate(self) -> None:
        """Ask the first input where the outputs are now, when none of those that are known answers."""
        line = wire.Line(self._inputs[0], self._talk)
        try:
            with contextlib.suppress(wire.Silent, wire.Refusal):
                self._follow(line.ask({"type": "info"}, once=True))
        finally:
            line.close()

    def _check_rejected(self) -> None:
        rejected = self._answer.rejected.values()
        count = sum(r.rows for r in rejected)
        if self._max_rejected is None or count <= self._max_rejected:
            return
        first = next((f"; the first: {file} line {line}: {reason}" for r in rejected for file, line, reason in r.first), "")
        raise errors.RowsRejected(f"{count} rows cannot be used, at most {self._max_rejected} may be{first}", "rejected")

    # Threads and progress

    def _start(self, do: Any, *args: Any) -> threading.Thread:
        thread = threading.Thread(target=self._guard, args=(do, args), daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _guard(self, do: Any, args: tuple[Any, ...]) -> None:
        try:
            do(*args)
        except wire.Stopped:
            pass
        except BaseException as err:  # whatever it is: the main thread raises it
            with self._lock:
                self._failure = self._failure or err
            self._talk.over.set()

    def _raise_failure(self) -> None:
        with self._lock:
            failure = self._failure
        if failure is not None:
            raise failure

    def _wait_a_moment(self, thread: threading.Thread) -> None:
        thread.join(0.05)
        if not self._talk.over.is_set():
            self._talk.check()
        self._tell()

    def _tell(self) -> None:
        """Tell progress, about five times a second."""
        if self._show is None or time.monotonic() - self._told < 0.2:
            return
        self._told = time.monotonic()
        self._show(progress.Progress(self._state, self.session, tuple(s.view() for s in self._streams), self._answer.count, self._talk.retries))


def fetch(
    entry: str, about: dict[str, Any], session: str, analysis: str, queries: list[str], talk: wire.Talk, show: progress.Callback | None
) -> Result:  # fmt: skip
    """Return the answer of a session that somebody has run. Nothing of the session changes."""
    return Run(entry, about, analysis, {}, "", talk, session=session, show=show).fetch(queries)
