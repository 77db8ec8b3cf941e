package client

import (
	"context"
	"fmt"
	"io"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
	"posta.dev/posta/rows/csv"
	"posta.dev/posta/security"
)

// Config says what to run and how. Entries and Analysis are needed, and Dir or Find to send anything.
type Config struct {
	// Entries are endpoints of the cluster ("tcp://host:port"), any of its inputs or outputs. They are tried in turn.
	Entries []string

	// Keys are the client's, for a cluster with keys; Entries are then named (NamedEndpoint). With keys every connection over TCP is mutual TLS, or it
	// fails; unix sockets are plain, and for the same user alone. Default: plain connections.
	Keys *security.Keys

	// Analysis is the name of the analysis; Params overrides its defaults.
	Analysis string
	Params   map[string]string

	// Dir is where the files are. Find, if set, is asked instead.
	Dir  string
	Find func(protocol.Stream) ([]Source, error)

	// Named are files in place of those below Dir, for the streams that they are for. Stdin is what "-" stands for; nil is os.Stdin.
	Named []Named
	Stdin io.Reader

	// Comma is what separates the columns of all files that are CSV; 0 looks for it in each, see package client/source/text.
	Comma byte

	// Columns, if set, returns the columns that are needed of a stream, nil if they are not known. Where they are, separators are found by
	// them.
	Columns func(stream string) []csv.Column

	// Session is the session's id; zero means a new one.
	Session session.ID

	// Token is what the opener of a session proves itself with; zero means a new one. A run that was ended after its upload can be
	// taken up again with its id and its token: it goes straight to the results. With another token it hears protocol.ErrInUse or
	// protocol.ErrFinished and changes nothing.
	Token session.Token

	// Takeover takes the session over from the client that opened it and has fallen silent (R17): Open waits while that client lives. A
	// session whose upload was finished goes straight to the results; one in the middle of its upload is ErrInterrupted.
	Takeover bool

	// Force lets Cancel and Finish do without the token: a person wants it so, whoever opened the session.
	Force bool

	// Lanes is how many chunks are under way at once, 1 to 1024; 0 means 8, and there is at least one for each input. One
	// lane waits for a disk's fsync between any two chunks; many cost chunk-size memory each, here and there.
	Lanes int

	// Chunk is about how many bytes a chunk has; 0 means what the cluster asks for. A record longer than that is a chunk of
	// its own. 1 sends every record by itself (for tests); above 16 MiB is refused.
	Chunk int

	// Timeout is how long one try waits before the same is said again on a new socket; 0 means 2 s. Too short repeats
	// chunks that were on their way, too long notices a dead node late. Never an error by itself.
	Timeout time.Duration

	// GiveUpAfter is how long nothing at all may answer before the client gives up; 0 means 60 s, below 0 never.
	GiveUpAfter time.Duration

	// NoWait returns protocol.ErrBusy instead of waiting until the cluster has room for one more session.
	NoWait bool

	// KeepResults leaves the results with the cluster, for its results_ttl, instead of closing the session.
	KeepResults bool

	// StreamOnly keeps rows out of the Answer: OnRows has seen them.
	StreamOnly bool

	// OnRows gets the rows of the queries as they arrive, query by query; last is true once for each query. An error ends
	// the run. The rows stay valid.
	OnRows func(query string, columns []string, rows protocol.Rows, last bool) error

	// Deliver, if set, gets the complete answer before the session is closed. When it returns an error the run ends with ErrNotDelivered, and the
	// answer stays with the cluster for its results_ttl.
	Deliver func(context.Context, *Answer) error

	// Inspect, if set, is called for each file before any of its rows are sent, by several goroutines, with its header line. What it
	// returns, if not nil, is called with each chunk of the file, in their order, before the chunk is sent; the chunk is valid during
	// the call. An error ends the run.
	Inspect func(stream, file string, header []byte) (func(chunk []byte, line uint64) error, error)

	// OnWarning is called once for each warning about the input, never concurrently. The Answer has them, too.
	OnWarning func(Warning)

	// OnNote is called for each file that is read in another form than usual: what it was found to be. Never concurrently.
	OnNote func(Warning)

	// OnProgress is called every 200 ms and once at the end, from one goroutine, never concurrently.
	OnProgress func(Progress)
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
