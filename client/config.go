package client

import (
	"context"
	"fmt"
	"io"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/columnar"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/security"
)

// Config says what to run and how. Entries and Analysis are needed; Dir or Find are needed to send anything. What most callers set comes
// first.
type Config struct {
	// Entries are endpoints of the cluster ("tcp://host:port"), any of its inputs or outputs. They are tried in turn.
	Entries []string

	// Keys are the client's, for a cluster with keys; Entries are then named (NamedEndpoint). With keys every connection over TCP is mutual
	// TLS, or it fails; unix sockets are plain, and only the same user can use them. Default: plain connections.
	Keys *security.Keys

	// Ask, if set, carries requests to the only node of a cluster within this process, in place of sockets. It keeps nothing of a request, and
	// the answer belongs to the caller.
	Ask func(ctx context.Context, request []byte) ([]byte, error)

	// Analysis is the name of the analysis; Params overrides its defaults.
	Analysis string
	Params   map[string]string

	// Dir is where the files are. Find, if set, is asked instead.
	Dir  string
	Find func(protocol.Stream) ([]Source, error)

	// Named are files that replace those below Dir, for the streams that they name. "-" means Stdin; nil is os.Stdin.
	Named []Named
	Stdin io.Reader

	// Comma separates the columns in all CSV files; 0 detects the separator of each file, see package client/source/text.
	Comma byte

	// OnProgress is called every 200 ms and once at the end, from one goroutine, never concurrently.
	OnProgress func(Progress)

	// OnWarning is called once for each warning about the input, never concurrently. The Answer has them, too.
	OnWarning func(Warning)

	// OnRows gets the rows of the queries as they arrive, query by query; last is true once for each query. An error ends
	// the run. The rows stay valid.
	OnRows func(query string, columns []string, rows protocol.Rows, last bool) error

	// StreamOnly keeps rows out of the Answer: only OnRows gets them. Keep, if it is not 0, puts only the first Keep rows of each query into
	// the Answer. Otherwise the Answer has all rows. If they take more than a few MiB, the rest is in a temporary file, which no other process
	// can open and which ends with this process (os.TempDir says where; TMPDIR changes it).
	StreamOnly bool
	Keep       int

	// KeepResults leaves the results with the cluster, for its results_ttl, instead of closing the session.
	KeepResults bool

	// Deliver, if set, gets the complete answer before the session is closed. When it returns an error the run ends with ErrNotDelivered, and
	// the answer stays with the cluster for its results_ttl.
	Deliver func(context.Context, *Answer) error

	// How the session is run. The defaults suit most.

	// Lanes is how many chunks are under way at once, 1 to 1024; 0 means 8, and there is at least one for each input. A single lane waits for
	// an fsync between any two chunks. Each lane costs memory for one chunk, in the client and in the cluster.
	Lanes int

	// Chunk is about how many bytes a chunk has; 0 means what the cluster asks for. A record longer than that is a chunk of
	// its own. 1 sends every record by itself (for tests); above 16 MiB is refused.
	Chunk int

	// Send sends all files, even those that inputs could read in place (S8). Setting Chunk has the same effect.
	Send bool

	// Timeout is how long one try waits before the request is repeated on a new socket; 0 means 2 s. If it is too short, chunks are repeated
	// that were on their way; if it is too long, a dead node is noticed late. A timeout alone is never an error.
	Timeout time.Duration

	// GiveUpAfter is how long all nodes may be silent before the client gives up; 0 means 60 s, below 0 it never does. Time in which the
	// client's own process did not run does not count.
	GiveUpAfter time.Duration

	// NoWait returns protocol.ErrBusy instead of waiting until the cluster has room for another session.
	NoWait bool

	// Inspect, if set, is called for each file before any of its rows are sent, by several goroutines, with its header line. If it returns a
	// function, that is called with each chunk of the file, in their order, before the chunk is sent. The chunk is valid during the call. An
	// error ends the run.
	Inspect func(stream, file string, header []byte) (func(chunk []byte, line uint64) error, error)

	// OnOpened is called when an input has opened the session, or may have. From then on the session may exist in the cluster until it ends
	// there.
	OnOpened func(session.ID)

	// OnNote is called for each file that is read in another form than usual, and says in which. It is never called concurrently.
	OnNote func(Warning)

	// For sessions that were begun before, by this client or by another one.

	// Session is the session's id; zero means a new one.
	Session session.ID

	// Token proves that this client opened the session; zero means a new one. A run that was ended after its upload can be taken up again with
	// its id and its token: it goes straight to the results. With another token it gets protocol.ErrInUse or protocol.ErrFinished and changes
	// nothing.
	Token session.Token

	// Takeover takes the session over from the client that opened it and has fallen silent (R17): Open waits while that client lives. If the
	// session's upload was finished, the client goes straight to the results; if the session is in the middle of its upload, Open returns
	// ErrInterrupted.
	Takeover bool

	// Resume continues with the session of another client that is gone, wherever its upload stopped: it takes the session over, asks all
	// inputs what they have taken, compares that with the files, and sends the rest. Session is needed, and Analysis, Params and the files
	// have to be the same. While another client uses the session, Open waits for up to 15 s, and then returns protocol.ErrInUse. If the files
	// are others, the error is ErrOtherFiles.
	Resume bool

	// Force lets Cancel and Finish end the session without its token, whoever opened it, because a person wants it.
	Force bool

	// For analyses that are compiled, and files that were sampled before: package query sets these.

	// Plan is the plan from which the cluster compiles the analysis; nil for an analysis that is built in.
	Plan []byte

	// Input, if set, is used in place of Dir, Named and Stdin. Samples of its files may have been read before.
	Input *Input

	// Columns, if set, returns the columns that are needed of a stream, nil if they are not known. Known columns are used to detect
	// separators.
	Columns func(stream string) []csv.Column

	// Forms, if set, returns what the files of a stream are that are CSV, if they are not CSV with a header.
	Forms func(stream string) csv.Form

	// Skips, if set, returns a function that reports which parts of a stream's files need not be read (analyses.Stream.Skips, for the columns
	// that Columns returns), or nil if all have to be read.
	Skips func(stream string) func([]csv.Range) bool

	// Tests, if set, returns the conditions by which formats may leave out values or rows (analyses.Stream.Tests, for the columns that Columns
	// returns).
	Tests func(stream string) []columnar.Test

	// Lines, if set, returns the lines of a stream's file of which rows are wanted, in ascending order; all is true if all are wanted. Rows
	// of other lines may be sent or not.
	Lines func(stream, file string) (lines []uint64, all bool)

	// Head, if set, returns how many bytes of a stream's records are enough, 0 for all. The files of such a stream are sent one after the
	// other, in the order of their names. Reading stops after the chunk in which that many bytes are reached. Answer.Partial says whether
	// anything was left out. A session that is resumed cannot have Head.
	Head func(stream string) int64
}

// Defaults of Config.
const (
	DefaultLanes       = 8
	DefaultTimeout     = 2 * time.Second
	DefaultGiveUpAfter = time.Minute
)

// filled returns the configuration with its defaults, or what is wrong with it.
func (c Config) filled() (Config, error) {
	switch {
	case len(c.Entries) == 0:
		return c, fmt.Errorf("%w: no entry points; give the endpoint of an input, like tcp://127.0.0.1:5500", ErrConfig)
	case c.Resume && c.Session == (session.ID{}):
		return c, fmt.Errorf("%w: no session to resume; give its id", ErrConfig)
	case c.Resume && c.Head != nil:
		return c, fmt.Errorf("%w: Resume compares whole files with what was sent, and Head sends parts", ErrConfig)
	case c.Lanes < 0 || c.Lanes > protocol.MaxLanes:
		return c, fmt.Errorf("%w: %d lanes; give 1 to %d, or 0 for %d", ErrConfig, c.Lanes, protocol.MaxLanes, DefaultLanes)
	case c.Chunk < 0 || c.Chunk > protocol.MaxData:
		return c, fmt.Errorf("%w: chunks of %d bytes; give 1 to %d, or 0 for what the cluster asks", ErrConfig, c.Chunk,
			protocol.MaxData)
	case c.Comma == '"' || c.Comma != 0 && c.Comma != '\t' && (c.Comma < ' ' || c.Comma > '~'):
		return c, fmt.Errorf("%w: %q as separator; give one of , ; | or a tab", ErrConfig, c.Comma)
	case c.Timeout < 0:
		return c, fmt.Errorf("%w: a timeout of %v; give more than 0, or 0 for %v", ErrConfig, c.Timeout, DefaultTimeout)
	}
	if c.Lanes == 0 {
		c.Lanes = DefaultLanes
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.GiveUpAfter == 0 {
		c.GiveUpAfter = DefaultGiveUpAfter
	}
	return c, nil
}
