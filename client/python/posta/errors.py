"""One exception for each kind of trouble. Each has the product's own words as its text, and its code."""

from __future__ import annotations


class Error(Exception):
    """Any trouble with a cluster, a session or the program. `code` is the word of the client protocol for it, or of this package."""

    def __init__(self, message: str, code: str = "other") -> None:
        super().__init__(message)
        self.code = code


class NoCluster(Error):
    """Nothing answers at the address that was given, or no longer."""


class Refused(Error):
    """The cluster does not let this user in, or does not let this user do that."""


class UnknownAnalysis(Error):
    """The cluster has no analysis of this name."""


class BadParam(Error):
    """An analysis has no such parameter, or does not take its value."""


class StatementError(Error):
    """The SQL is wrong. The text shows the place in the statement."""


class InputError(Error):
    """The files cannot be found, read or understood, or an argument is wrong."""


class RowsRejected(Error):
    """More rows could not be used than `max_rejected` allows."""


class SessionFailed(Error):
    """The session failed; the text is the reason. Nothing of its answer is kept."""


class SessionGone(Error):
    """The session was cancelled, closed, is too old, or is not known."""


class SessionInUse(Error):
    """Another client has this session, or has taken it over. This one has changed nothing."""


class Busy(Error):
    """The cluster has no room now, and `wait=False` said not to wait."""


class Timeout(Error, TimeoutError):
    """The answer was not there in time. The session is cancelled."""


class NoProgram(Error):
    """The program posta is needed for this, and is not there."""


class MissingPackage(Error, ImportError):
    """An optional package is needed for this, and is not installed."""


_BY_CODE: dict[str, type[Error]] = {
    "no_cluster": NoCluster,
    "refused": Refused,
    "forbidden": Refused,
    "unknown_analysis": UnknownAnalysis,
    "bad_param": BadParam,
    "statement": StatementError,
    "input": InputError,
    "bad_input": InputError,
    "usage": InputError,
    "rejected": RowsRejected,
    "failed": SessionFailed,
    "cancelled": SessionGone,
    "closed": SessionGone,
    "expired": SessionGone,
    "finished": SessionGone,
    "unknown_session": SessionGone,
    "in_use": SessionInUse,
    "superseded": SessionInUse,
    "interrupted_upload": SessionInUse,
    "busy": Busy,
    "timeout": Timeout,
    "no_program": NoProgram,
}


def of(code: str, message: str) -> Error:
    """Return the exception for a code."""
    return _BY_CODE.get(code, Error)(message, code)
