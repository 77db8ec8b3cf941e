"""Runs an analysis on a Posta cluster with nothing but ZeroMQ and msgpack. What is said is in docs/protocol.md.

    python3 bikes.py --entry ipc:///run/user/1000/posta-1a2b3c4d/input-1.client DIR
"""
import argparse, concurrent.futures, contextlib, glob, gzip, json, os, re, sys, threading, time, uuid
import msgpack, zmq

TRY_MS, LANES = 2000, 4  # how long one try waits before the same is said again; how many chunks are under way at once
FIELD = rb'(?:(?!")[^%b\n]*|"[^"]*(?:""[^"]*)*"(?:[^%b"\n][^\n]*)?)'  # %b is the separator


OTHERS = ("in_use", "finished", "superseded")  # the session belongs to another client: it is not this one's to cancel


class Refused(Exception):
    """An error reply of a node."""


class Line:
    """A REQ socket that says the same again, on a new connection, until it is answered (the lazy pirate)."""
    def __init__(self, endpoint, lane=0):
        self.endpoint, self.socket, self.lane, self.seq, self.acked = endpoint, None, lane, 0, 0

    def ask(self, tries=None, poll_ms=TRY_MS, again="busy", **request):
        frame = msgpack.packb({"v": 2, **request})
        while tries is None or tries > 0:
            if self.socket is None:
                self.socket = zmq.Context.instance().socket(zmq.REQ)
                self.socket.setsockopt(zmq.LINGER, 0)
                self.socket.connect(self.endpoint)
            self.socket.send(frame)
            if self.socket.poll(poll_ms):
                reply = msgpack.unpackb(self.socket.recv())
                if reply["type"] != "error":
                    return reply
                if reply["code"] != again:
                    raise Refused(reply)
                time.sleep(reply.get("retry_after_ms", 200) / 1000)
                continue
            self.socket.close()  # a reply that comes late must not be taken for the next one
            self.socket, tries = None, tries and tries - 1
        raise TimeoutError("no answer from " + self.endpoint)

    def quietly(self, **request):
        with contextlib.suppress(Refused, TimeoutError):
            self.ask(tries=1, **request)

    def carry(self, ours, stream, work, lock):
        """As a lane: sends chunks, numbered 1, 2, 3, … over all streams, until there is no more work."""
        while True:
            with lock:
                chunk = next(work, None)
            if not chunk:
                return
            self.seq += 1
            self.ask(type="chunk", **ours, stream=stream, lane=self.lane, seq=self.seq, **chunk)
            self.acked = self.seq


def records_end(data, record):
    """Where the last whole record of data ends: a line feed within quotes is not the end of one."""
    if b'"' not in data:
        return data.rfind(b"\n") + 1
    end = 0
    while match := record.match(data, end):
        end = match.end()
    return end


def chunks(directory, stream, size):
    """Cuts the files of a stream into whole records."""
    pattern = os.path.join(directory, stream["files"])
    names = sorted(glob.glob(pattern) + glob.glob(pattern + ".gz"))
    if not names:
        sys.exit("nothing matches %s" % pattern)
    comma = re.escape(stream["comma"].encode())
    field = FIELD % (comma, comma)
    record = re.compile(field + b"(?:" + comma + field + rb")*\n")
    for name in names:
        file = os.path.relpath(name.removesuffix(".gz"), directory).replace(os.sep, "/")
        with (gzip.open if name.endswith(".gz") else open)(name, "rb") as f:
            header, line, rest = f.readline().removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n"), 2, b""
            while more := f.read(size):
                rest += more
                if end := records_end(rest, record):
                    yield dict(file=file, line=line, header=header, data=rest[:end])
                    line, rest = line + rest.count(b"\n", 0, end), rest[end:]
            if rest:
                yield dict(file=file, line=line, header=header, data=rest)


def claims(endpoint, lanes, ended):
    """What an input has acknowledged. If it lost any of that, it fails the session at once (R14)."""
    acked = [[lane.lane, lane.acked] for lane in lanes if lane.endpoint == endpoint and lane.acked]
    return {"lanes": acked, **({"stream": ended[endpoint]} if endpoint in ended else {})}


def keep_alive(endpoint, every, lanes, ended, ours, stop):
    line = Line(endpoint)
    while not stop.wait(every):
        line.quietly(type="ping", **ours, **claims(endpoint, lanes, ended))


def at(entry, info, role):
    """The endpoints of the inputs or outputs: beside the entry, by their names, if that is a socket of posta connect and they are elsewhere."""
    directory, found = os.path.dirname(entry), zip(info[role + "s"], info.get(role + "_nodes") or info[role + "s"])
    return [f"{directory}/{node}.client" if entry.startswith("ipc:") and endpoint.startswith("tcp:") else endpoint for endpoint, node in found]


def upload(inputs, lanes, ended, opened, ours, directory):
    with concurrent.futures.ThreadPoolExecutor(len(lanes)) as threads:
        for stream in opened["streams"]:
            name, work, lock = stream["name"], chunks(directory, stream, opened["chunk"]), threading.Lock()
            for done in [threads.submit(lane.carry, ours, name, work, lock) for lane in lanes]:
                done.result()
            for endpoint in inputs:
                last = [[lane.lane, lane.seq] for lane in lanes if lane.endpoint == endpoint and lane.seq]
                Line(endpoint).ask(type="end", **ours, stream=name, lanes=last)
                ended[endpoint] = name


def results(output, ours, queries):
    answer, rejected, after, done = {q: {"columns": [], "rows": []} for q in queries}, {}, 0, False
    while not done:
        reply = output.ask(type="results", **ours, after=after, wait_ms=1000, poll_ms=1000 + TRY_MS,
                           again="unknown_session")  # nothing of the session has come down to the output yet
        if reply["state"] == "failed":
            sys.exit("the session failed: " + reply["reason"])
        for part in reply["parts"]:
            if part["query"]:
                answer[part["query"]]["columns"] = part["columns"]
                answer[part["query"]]["rows"] += part["rows"]
            else:
                rejected = part["rejected"]
            after = part["n"]
        done = reply["done"]
    return {"queries": answer, "rejected": rejected}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--entry", required=True, help="endpoint of any input or output")
    args.add_argument("--analysis", default="bikes")
    args.add_argument("--param", action="append", default=[], type=lambda p: p.split("=", 1), metavar="NAME=VALUE")
    args.add_argument("dir")
    args = args.parse_args()
    session, stop, last_word = str(uuid.uuid4()), threading.Event(), "cancel"
    ours = {"session": session, "token": os.urandom(16)}  # what every request of this session has
    info = Line(args.entry).ask(type="info")
    inputs, outputs = at(args.entry, info, "input"), at(args.entry, info, "output")
    lanes = [Line(inputs[i % len(inputs)], i) for i in range(max(LANES, len(inputs)))]
    ended = {}  # by endpoint: the last stream whose end it has acknowledged
    try:
        for endpoint in inputs:  # in their order: the first decides who has to wait
            opened = Line(endpoint).ask(type="open", **ours, analysis=args.analysis, params=dict(args.param))
            every = opened["client_timeout_ms"] / 4000  # seconds; from now on this input must not miss us, however long the next one takes
            threading.Thread(target=keep_alive, args=(endpoint, every, lanes, ended, ours, stop), daemon=True).start()
        upload(inputs, lanes, ended, opened, ours, args.dir)
        answer, last_word = results(Line(outputs[0]), ours, opened["queries"]), "close"
    except Refused as refused:
        reply = refused.args[0]
        if reply["code"] in OTHERS:
            last_word = None
        sys.exit("%s (%s)" % (reply["message"], reply["code"]))
    finally:
        stop.set()
        for endpoint in (inputs + outputs) if last_word else []:
            Line(endpoint).quietly(type=last_word, **ours)
    print(json.dumps({"analysis": args.analysis, "session": session, **answer}, ensure_ascii=False))


if __name__ == "__main__":
    main()
