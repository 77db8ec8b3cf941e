"""Says requests of the client protocol (docs/protocol.md) over ZeroMQ until they are answered."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time
from typing import Any

import msgpack
import zmq

from . import errors

VERSION = 2
TRY = 2.0  #: seconds that a try waits before the same is said again; a later one waits up to eight times as long
PATIENCE = 60.0  #: seconds of silence of a whole cluster that a session bears: it may be starting again
_STEP = 0.1  # seconds between two looks at whether the talk is over
MAX_REPLY = 256 << 20  #: bytes of a reply at most


class Silent(Exception):
    """One try had no answer."""


class Stopped(Exception):
    """The talk is over: a lane has failed, or somebody pressed Ctrl-C."""


class Reply(dict[str, Any]):
    """A reply, with its fields as the protocol names them."""

    def __missing__(self, key: str) -> Any:
        raise errors.Error(f"a reply of the cluster lacks {key!r}: are it and this package of one version?", "bad_reply")


class Refusal(Exception):
    """An error reply of a node."""

    def __init__(self, reply: dict[str, Any], endpoint: str) -> None:
        self.code = str(reply.get("code", "other"))
        self.retry_after = reply.get("retry_after_ms", 0) / 1000
        super().__init__(f"{reply.get('message') or self.code} ({self.code})")
        self.endpoint = endpoint

    def error(self) -> errors.Error:
        """Return it as an exception for users."""
        return errors.of(self.code, str(self))


class Talk:
    """What all connections of one session share: when to give up, and that it is over."""

    def __init__(self, patience: float, timeout: float | None) -> None:
        self.heard = time.monotonic()
        self.patience = patience  # seconds of silence of all nodes together
        self.until = time.monotonic() + timeout if timeout else None
        self.timeout = timeout
        self.over = threading.Event()
        self.retries = 0

    def check(self) -> None:
        """Raise if the talk is over, or should be."""
        if self.over.is_set():
            raise Stopped
        if self.until is not None and time.monotonic() > self.until:
            raise errors.Timeout(f"not finished in time: {self.timeout:g} s are over and the session cancelled; give it more time", "timeout")

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the talk lasts."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.check()
            self.over.wait(min(left, _STEP))
        self.check()


class Line:
    """A REQ socket that says the same again, on a new connection, until it is answered (the lazy pirate)."""

    def __init__(self, endpoint: str, talk: Talk) -> None:
        self.endpoint = endpoint
        self._talk = talk
        self._socket: zmq.Socket[bytes] | None = None

    def ask(self, request: dict[str, Any], *, wait: float = TRY, once: bool = False) -> Reply:
        """Return the answer; raise Refusal for an error reply, Silent if there is none and once is set."""
        frame = msgpack.packb({"v": VERSION, **request})
        longest = 8 * wait
        while True:
            reply = self._try(frame, wait)
            if reply is not None:
                self._talk.heard = time.monotonic()
                if reply.get("type") == "error":
                    raise Refusal(reply, self.endpoint)
                return reply
            if once:
                raise Silent(self.endpoint)
            if time.monotonic() - self._talk.heard > self._talk.patience:
                raise errors.NoCluster(
                    f"no cluster answers at {self.endpoint} for {self._talk.patience:g} s; start one with `posta up`, or check the address", "no_cluster"
                )
            self._talk.retries += 1
            wait = min(2 * wait, longest)

    def _try(self, frame: bytes, wait: float) -> Reply | None:
        if self._socket is None:
            self._socket = zmq.Context.instance().socket(zmq.REQ)
            self._socket.setsockopt(zmq.LINGER, 0)
            self._socket.setsockopt(zmq.MAXMSGSIZE, MAX_REPLY)
            try:
                self._socket.connect(self.endpoint)
            except zmq.ZMQError as err:
                self.close()
                raise errors.InputError(f"{self.endpoint} is not an address of a cluster: {err}; write tcp://HOST:PORT or ipc:///PATH", "usage") from err
        done = False
        try:
            self._socket.send(frame)
            end = time.monotonic() + wait
            while (left := end - time.monotonic()) > 0:
                self._talk.check()
                if self._socket.poll(int(1000 * min(left, _STEP)) + 1):
                    data = self._socket.recv()
                    done = True
                    return _decoded(data, self.endpoint)
            return None
        finally:
            if not done:
                self.close()  # a reply that comes late must not be taken for the next one

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._socket is not None:
            self._socket.close(0)
            self._socket = None


def _decoded(frame: bytes, endpoint: str) -> Reply:
    try:
        # Text that is not UTF-8 is shown escaped, as everywhere in Posta: it is not a reason to lose an answer.
        reply = msgpack.unpackb(frame, unicode_errors="backslashreplace")
        if not isinstance(reply, dict) or not isinstance(reply.get("type"), str):
            raise ValueError("it is not a reply")
    except (ValueError, TypeError, msgpack.UnpackException) as err:
        raise errors.Error(f"{endpoint} answers what this client does not understand ({err}); is it a node of Posta?", "bad_reply") from err
    return Reply(reply)


def jitter(seconds: float) -> float:
    """Spread a pause, so that clients that were turned away together do not come back together."""
    return seconds * (0.75 + random.random() / 2)


def new_token() -> bytes:
    """Return what tells this client from every other one that uses the session's id."""
    return os.urandom(16)


def names(about: dict[str, Any]) -> dict[str, str]:
    """Return the names of the nodes, by the endpoints that a reply tells."""
    return {
        endpoint: name
        for role in ("input", "output")
        for endpoint, name in zip(about.get(role + "s") or [], about.get(role + "_nodes") or [], strict=False)
    }


def beside(entry: str, endpoints: list[str], named: dict[str, str]) -> list[str]:
    """Return where to dial nodes: beside the entry, by their names, if that is a socket of `posta connect` and they are elsewhere."""
    directory = os.path.dirname(entry)
    return [f"{directory}/{named[at]}.client" if entry.startswith("ipc:") and at.startswith("tcp:") and at in named else at for at in endpoints]


def tell_all(endpoints: list[str], request: dict[str, Any], seconds: float = 2.0) -> dict[str, Reply | Refusal | None]:
    """Say something to all nodes at once. What each one answered is returned: None for silence."""
    answers: dict[str, Reply | Refusal | None] = dict.fromkeys(endpoints)

    def tell(endpoint: str) -> None:
        line = Line(endpoint, Talk(seconds, None))
        try:
            with contextlib.suppress(Silent, errors.Error):
                answers[endpoint] = line.ask(request, wait=seconds, once=True)
        except Refusal as refusal:
            answers[endpoint] = refusal
        finally:
            line.close()

    threads = [threading.Thread(target=tell, args=(endpoint,), daemon=True) for endpoint in answers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers
