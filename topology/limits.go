package topology

import "time"

// Limits bound memory, disk and waiting. The default of each is in the table of settings.go, beside its range.
type Limits struct {
	// Sessions is how many sessions run at once, 1 to 1024, default 8. A further one gets "busy" and RetryAfter. Each costs its reference
	// tables in every joiner and its groups in the aggregators: memory grows with Sessions.
	Sessions int
	// Window is the number of bytes that a link may have sent without an acknowledgement, 64KiB to 1GiB, default 16MiB. A node keeps at most
	// Window × outgoing links in memory and in its outbox. It must hold a Chunk. If it is small, a fast sender waits for each fsync of the
	// receiver; if it is large, back-pressure comes late and recovery resends more.
	Window Size
	// Chunk is how many bytes of CSV a client is asked to send in one request, 4KiB to 64MiB, default 1MiB. Small ones cost a round trip, a
	// log entry and a dictionary each: 256KiB takes half as much processor time again. If it is large, repeating a request is expensive: all
	// requests that a client's lanes have under way must pass its network within its timeout (4 × 1MiB in 2s).
	Chunk Size
	// Frame is the largest message that a socket accepts; 64KiB to 256MiB, default 16MiB, at least chunkHead above Chunk. A larger one is
	// refused before memory is taken for it. So Frame is what a stranger on the network can make a node allocate per connection. Nodes split
	// larger messages; one row that is larger fails its session.
	Frame Size
	// Commit is how many bytes of input are taken into one commit, 64KiB to 256MiB, default 4MiB, at least Chunk. If it is small, each fsync
	// covers little input; if it is large, acknowledgements come late and more work is repeated after a crash.
	Commit Size
	// Memory is how many bytes of reference data one session may have in a joiner, 1MiB to 1024GiB, default 1GiB. The data counts as it
	// travels, projected to the columns that are needed; an analysis takes up to ten times as much for its tables. It also bounds the
	// tables of a session in a reducer, which may always take 64MiB. A reducer needs them whole unless the rows of the answer are passed on
	// one by one. A session beyond the limit fails. A quarter of it, but no less than Tables, is what the rows and groups that wait for joins
	// take in an aggregator, of all sessions together, before they move to files. If Memory is small, honest sessions fail; if it is large,
	// one session can take all of a node's memory.
	Memory Size
	// NodeMemory is how many bytes of what Memory bounds all sessions together may hold in one node, 1MiB to 1024GiB, default 4GiB, at least
	// Memory. Beyond it the client whose sessions hold most loses the largest of them. If it is small, sessions fail that would have room one
	// after the other; if it is large, many sessions can take all memory of a node's machine.
	NodeMemory Size
	// Tables is how many bytes of memory the groups of all sessions take in an aggregator, 1MiB to 1024GiB, default 48MiB. Groups beyond that
	// move to files in its data directory, and are read back piece by piece when the facts have ended. If it is small, sessions with many
	// groups write and read more files; if it is large, they cost that much memory.
	Tables Size
	// ClientShare is how much of Sessions, NodeMemory, Results and ResultsSize one client with a key may have for sure, in percent, 1 to 100,
	// default 50. A client that runs as many sessions as its share gets further places while nobody else waits, but for the last one; else it
	// is told "busy". It may hold more of NodeMemory than its share, except for Memory, while nobody else needs that. Its answers beyond its
	// share replace its own older ones. With 100 one client can take everything, and others wait. Clients without keys have one name together,
	// and no share.
	ClientShare int
	// Segment is the size at which the log continues in a new file, 64KiB to 1GiB, default 32MiB. The log is cut by whole segments, and
	// recovery has one segment at a time in memory: large ones keep disk space longer, small ones cost some fsyncs each.
	Segment Size
	// Snapshot is the least number of bytes of log between two snapshots, Segment to 64GiB, default 64MiB. Recovery replays up to the larger
	// of Snapshot and the size of one snapshot. If it is small, the state is written again and again; if it is large, recovery is slow.
	Snapshot Size
	// ClientTimeout is the silence of an uploading client after which its session is aborted, 1s to 24h, default 30s, above RetryAfter. If it
	// is short, a client that reads from a slow disk is aborted; if it is long, a dead client keeps its place among Sessions for long.
	ClientTimeout time.Duration
	// ResultsTTL is how long results wait to be fetched, 1s to 8760h, default 1h, at least ClientTimeout. They are on the outputs' disks all
	// that time. The time counts over restarts of a node; a restart of its machine may lose an eighth of it.
	ResultsTTL time.Duration
	// Results is for how many sessions an output keeps results, 1 to 4096, default 1024, at least Sessions. When a further session finishes,
	// the results that were finished, or asked for, longest ago are dropped. If it is small, clients that come late find no results; if it is
	// large, it costs memory and disk.
	Results int
	// ResultsSize is how many bytes of finished results an output keeps, 1MiB to 1024GiB, default 16GiB; older ones are dropped as for
	// Results. They are in files beside the outputs' logs; unfinished results come on top, at most Sessions of them. A session whose answer
	// alone is larger fails with an error that says so. If it is small, long answers are not available; if it is large, disks fill.
	ResultsSize Size
	// Drain is how long a node that is told to stop continues sending what it committed, 0s to 10m, default 5s. With 0s the next start sends
	// all of it: nothing is lost in either case.
	Drain time.Duration
	// Handshake is the time in which a new connection has to identify itself, 100ms to 1m, default 2s. If it is short, peers on a slow network
	// are refused; if it is long, silent connections hold a place.
	Handshake time.Duration
	// RetryAfter is how long a busy input tells a client to wait, 10ms to 10m, default 1s. If it is short, clients ask often; if it is long, a
	// free place stays unused.
	RetryAfter time.Duration
}

// Within returns the limits of a node whose process may use so many bytes of memory; 0: no bound. What is held takes half of them at most,
// because garbage, buffers and what is being computed come on top, and one session computes from its groups while its rows still wait.
func (l Limits) Within(bytes int64) Limits {
	lower := func(limit *Size, part int64) {
		if bytes > 0 {
			*limit = min(*limit, Size(max(bytes/part, 1<<20)))
		}
	}
	lower(&l.NodeMemory, 2)
	lower(&l.Memory, 4)
	lower(&l.Tables, 16)
	return l
}

// PartOf returns how much of a limit the sessions of one owner may have: ClientShare percent, rounded down, and at least 1. An owner
// without a name has no share of its own, because without keys all clients are the same to a node.
func (l Limits) PartOf(limit int64, owner string) int64 {
	if l.ClientShare == 0 || owner == "" {
		return limit
	}
	return max(min(limit, 1), limit/100*int64(l.ClientShare)+limit%100*int64(l.ClientShare)/100)
}
