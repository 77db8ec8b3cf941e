package query

import (
	"context"
	"io"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
)

// Config says where statements are answered, and which files are their tables. Local and Cluster return one that works as it is.
type Config struct {
	// Data is the directory whose files are tables; "" for none.
	Data string

	// Files are tables of their own: As is the table's name, and Path a file, a pattern, an address (https://…, s3://…), or "-" for Stdin.
	Files []client.Named

	// Stdin is what FROM '-' reads; nil is os.Stdin. It can be read once.
	Stdin io.Reader

	// Roots, if there are any, take the place of Data: nothing outside these directories is read, whatever links lead there.
	Roots []string

	// Comma separates the columns in all CSV files; 0 detects the separator of each file.
	Comma byte

	// Topology is the file of the running cluster that answers. Without it, and without Reach, nodes within this process do.
	Topology string

	// Key is the directory with this program's key, for a cluster with keys. "" is the one that POSTA_KEY names, else the one that posta up
	// has made for its user.
	Key string

	// Reach, if set, is asked in place of Topology how to reach the cluster, before each run of statements that read tables.
	Reach func(context.Context) (Entrance, error)

	// Small is how many bytes statements may read so that, without Topology and Reach, a single node answers them with its log in memory:
	// those of their files, and of Parquet those of the columns that they need. Above it there are several nodes, which take longer to start,
	// share more work among cores, and have their logs in files. 0 is DefaultSmall, or any number if a control group allows less than
	// 768 MiB of memory; below 0, nothing is small.
	Small int64

	// As, if set, is the name under which this program asks a running cluster. If it is killed, and asks the same again under the same name
	// over the same files, it continues with the session that ran, or fetches its answer, within limits.client_timeout and results_ttl of the
	// topology. Programs that run at the same time need different names, or the later one waits for the former for up to 15 s. Sessions that
	// read an address, or standard input, are not continued.
	As string

	// MaxRejected, if it is not nil, is how many rows of a statement may be unusable. One more, and the statement fails with ErrRejected.
	MaxRejected *uint64

	// Session says how sessions are run. The fields Lanes, Chunk, Send, Timeout, GiveUpAfter, NoWait and Keep are used.
	Session client.Config

	// Watch is told what happens.
	Watch Watch

	// Journal, if set, keeps what sessions have answered, so that another process can continue.
	Journal Journal

	// Now is the clock that current_date reads; nil is time.Now.
	Now func() time.Time
}

// DefaultSmall is the default of Config.Small.
const DefaultSmall = 64 << 20

// Entrance is how a cluster is reached: the endpoints of inputs and outputs, and the client's keys, nil for plain connections.
type Entrance struct {
	Entries []string
	Keys    *security.Keys

	// Ask is client.Config.Ask, for a node within this process; nil for a cluster with sockets.
	Ask func(ctx context.Context, request []byte) ([]byte, error)
}

// Local answers statements over the files of a directory, on nodes within this process. They end with Close.
func Local(dir string) Config { return Config{Data: dir} }

// Cluster answers statements on a running cluster, over the files of the working directory. To read other files, set Data.
func Cluster(topology string) Config { return Config{Topology: topology, Data: "."} }

// Watch is told what happens while statements are answered. Each function may be nil. They are called by several goroutines, Progress by
// one at a time for each run.
type Watch struct {
	// Progress gets the progress of the session that runs, every 200 ms.
	Progress func(client.Progress)

	// Doing is called before each session, with the name of what it computes: "" for all statements, else a statement, or a pass of it.
	Doing func(what string)

	// Notice gets what people should know.
	Notice func(Notice)

	// Ended is called when a session has ended, with its answer; nil if it has none.
	Ended func(*client.Answer)
}

// NoticeKind says what a notice is about.
type NoticeKind uint8

// The kinds of notices.
const (
	Warning NoticeKind = iota // about the input: the answer may lack rows
	Note                      // about how the statement was understood, or asked again
	Form                      // in which form a file is read
	Pass                      // the session that begins is a pass of a statement
)

// Notice is something that people should know. Its text may hold any bytes of the files.
type Notice struct {
	Kind NoticeKind
	Text string
	Err  error // why, if an error is the reason; its text follows Text
}

// Journal keeps how sessions have ended. See package cmd/internal/ask, which writes one for posta submit --journal.
type Journal interface {
	// Begin is called before the first session with the stamps of all files, by table and path.
	Begin(files map[string]map[string]protocol.Stamp) error
	// Run runs a session, or returns how it has ended before.
	Run(ctx context.Context, cfg client.Config, a *analyses.Analysis) (*client.Answer, error)
}

func (w *Watch) notice(kind NoticeKind, text string) {
	if w.Notice != nil && text != "" {
		w.Notice(Notice{Kind: kind, Text: text})
	}
}

func (w *Watch) failed(text string, err error) {
	if w.Notice != nil {
		w.Notice(Notice{Note, text, err})
	}
}

func (w *Watch) doing(what string) {
	if w.Doing != nil {
		w.Doing(what)
	}
}
