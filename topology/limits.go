package topology

import "time"

// Limits bound memory, disk and waiting. The default of each is in the table of settings.go, beside its range.
type Limits struct {
	// Sessions that run at once, 1 to 1024, default 8. One more gets "busy" and RetryAfter. Each costs its reference
	// tables in every joiner and its groups in the aggregators: memory grows with Sessions.
	Sessions int
	// Window is the bytes a link may have sent and not yet seen acknowledged, 64KiB to 1GiB, default 16MiB. A node keeps at most
	// Window × outgoing links in memory and in its outbox. It must hold a Chunk. Small ones make a fast sender wait
	// for each fsync of the receiver; large ones make back-pressure late and recovery resend more.
	Window Size
	// Chunk is the bytes of CSV a client is asked to send in one request, 4KiB to 64MiB, default 1MiB. Small ones cost a round
	// trip, a log entry and a dictionary each: 256KiB takes half as much processor time again. Large ones make a repeated request
	// expensive: what a client's lanes have under way must pass its network within its timeout (4 × 1MiB in 2s).
	Chunk Size
	// Frame is the largest message a socket accepts, refused before memory is taken for it; 64KiB to 256MiB, default 16MiB, at
	// least ChunkHead above Chunk. It is what a stranger on the network can make a node allocate per connection. Nodes split what is larger;
	// one row that is larger fails its session.
	Frame Size
	// Commit is the bytes of input taken into one commit, 64KiB to 256MiB, default 4MiB, at least Chunk. Small ones pay an fsync for
	// little; large ones hold acknowledgements back and repeat more work after a crash.
	Commit Size
	// Memory is the bytes of reference data that one session may have in a joiner, 1MiB to 1024GiB, default 1GiB: as it travels, projected to
	// the columns that are needed. An analysis takes up to ten times as much for its tables. A session beyond it fails. Small ones fail honest
	// sessions, large ones let one session take a joiner's memory.
	Memory Size
	// Tables is the bytes of memory that the groups of all sessions take in an aggregator, 1MiB to 1024GiB, default 48MiB. What is more moves to files in
	// its data directory, and comes back piece by piece when the facts have ended. Small ones make sessions with many groups write and read more
	// files; large ones cost that much memory.
	Tables Size
	// Segment is the size at which the log goes on in a new file, 64KiB to 1GiB, default 32MiB. The log is cut by whole
	// segments, and one at a time is in memory during recovery: large ones keep disk longer, small ones cost some fsyncs each.
	Segment Size
	// Snapshot is the bytes of log between two snapshots, at least; Segment to 64GiB, default 64MiB. Recovery replays up to the
	// larger of Snapshot and one snapshot's own size. Small ones write state again and again, large ones recover slowly.
	Snapshot Size
	// ClientTimeout is the silence of an uploading client after which its session is aborted, 1s to 24h, default 30s, above RetryAfter.
	// Short ones abort a client that reads from a slow disk; long ones keep a dead client's place among Sessions.
	ClientTimeout time.Duration
	// ResultsTTL is how long results wait to be fetched, 1s to 8760h, default 1h, at least ClientTimeout. They are on
	// the outputs' disks all that time. It counts over restarts of a node; of a restart of its machine it may lose an eighth.
	ResultsTTL time.Duration
	// Results is how many sessions' results an output keeps, 1 to 4096, default 1024, at least Sessions. When one more is finished, those go that
	// were finished, or asked for, longest ago. Small ones take answers from clients that come late; large ones cost memory and disk.
	Results int
	// ResultsSize is the bytes of all finished results that an output keeps, 1MiB to 1024GiB, default 16GiB: as Results. They are in files beside
	// the outputs' logs; results under way come on top, at most Sessions of them. A session whose answer alone has more fails and says so: with little, long
	// answers are not available; with much, disks fill.
	ResultsSize Size
	// Drain is how long a node that is told to stop still sends what it committed, 0s to 10m, default 5s. With 0s all of
	// it is sent by the next start instead: nothing is lost either way.
	Drain time.Duration
	// Handshake is the time a new connection has to say who it is, 100ms to 1m, default 2s. Short ones turn away peers on a slow
	// network, long ones let silent connections hold a place.
	Handshake time.Duration
	// RetryAfter is what a busy input tells a client to wait, 10ms to 10m, default 1s. Short ones are polled, long ones
	// leave a free place unused.
	RetryAfter time.Duration
}
