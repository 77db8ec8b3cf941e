package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"

	"posta.dev/posta/analyses/answer"
	"posta.dev/posta/analyses/sql/syntax"
	"posta.dev/posta/client"
	"posta.dev/posta/nodes"
	"posta.dev/posta/topology"
	"posta.dev/posta/wal"
)

// childVerb is the first argument with which the program starts itself as a child. The parent puts it after
// Config.Self.
const childVerb = "child"

// IsChild reports whether the arguments after the program's name are for Child.
func IsChild(args []string) bool { return len(args) > 0 && args[0] == childVerb }

// errUsage reports arguments that no parent of the same version passes.
var errUsage = errors.New("bench: not started by the program itself")

// Child is a process of a measurement: a node or the client. It returns the exit code.
//
//	child PROFILE node TOPOLOGY NAME
//	child PROFILE volatile TOPOLOGY NAME
//	child PROFILE link TOPOLOGY NAME
//	child PROFILE client TOPOLOGY ANALYSIS DIR LANES CHUNK
//	child PROFILE latency TOPOLOGY ANALYSIS DIR SESSIONS
//	child PROFILE effect TOPOLOGY NAME
//	child PROFILE probe TOPOLOGY CHUNKS
//	child PROFILE load TOPOLOGY ANALYSIS DIR
//	child PROFILE ask TOPOLOGY DIR TEXT
//	child PROFILE small DIR STATEMENTS
func Child(args []string) int {
	endWithParent()
	return runChild(args, child)
}

// Oracle is the process of the reference, with the arguments child PROFILE oracle ANALYSIS DIR. Oracles are no part of posta: the
// caller is a program below test/, which knows their answers. It returns the exit code.
func Oracle(args []string, answers func(analysis, dir string) (*answer.Answer, error)) int {
	endWithParent()
	return runChild(args, func(_ context.Context, what string, args []string) error {
		if what != "oracle" || len(args) != 2 {
			return errUsage
		}
		begin := time.Now()
		a, err := answers(args[0], args[1])
		if err != nil {
			return err
		}
		return reportAnswer(begin, a, nil)
	})
}

// endWithParent ends the process when its standard input is closed. Its goroutine lives until then.
func endWithParent() {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		fmt.Fprintln(os.Stderr, "bench: the program that started this process is gone")
		os.Exit(1)
	}()
}

// runChild calls do with what this process is to be, and the rest of the arguments.
func runChild(args []string, do func(ctx context.Context, what string, args []string) error) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	if !IsChild(args) || len(args) < 3 {
		fmt.Fprintln(os.Stderr, errUsage)
		return 2
	}
	if err := profiled(args[1], func() error { return do(ctx, args[2], args[3:]) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		var statement *syntax.Error
		if errors.As(err, &statement) {
			return wrongUse
		}
		return 1
	}
	return 0
}

func child(ctx context.Context, what string, args []string) error {
	switch {
	case what == "node" && len(args) == 2:
		return runNode(ctx, args[0], args[1], nodes.Config{Known: known()})
	case what == "volatile" && len(args) == 2:
		return runNode(ctx, args[0], args[1], nodes.Config{Known: known(), Disk: wal.Unsynced})
	case what == "link" && len(args) == 2:
		return runNode(ctx, args[0], args[1], nodes.Config{Known: linkAnalyses, Roles: linkRoles})
	case what == "effect" && len(args) == 2:
		return runEffectNode(ctx, args[0], args[1])
	case what == "probe" && len(args) == 2:
		return runProbe(ctx, args[0], args[1])
	case what == "ask" && len(args) == 3:
		return runAsk(ctx, args[0], args[1], args[2])
	case what == "small" && len(args) == 2:
		return runSmall(ctx, args[0], args[1])
	case what == "load" && len(args) == 3:
		return runLoad(ctx, args[0], args[1], args[2])
	case what == "client" && len(args) == 5:
		return runClient(ctx, args[0], args[1], args[2], args[3], args[4])
	case what == "latency" && len(args) == 4:
		return runLatency(ctx, args[0], args[1], args[2], args[3])
	}
	return errUsage
}

// profiled runs f, under the CPU profiler if file is not empty.
func profiled(file string, f func() error) (err error) {
	if file == "" {
		return f()
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := pprof.StartCPUProfile(out); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return f()
}

func runNode(ctx context.Context, file, name string, c nodes.Config) error {
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	c.Topology, c.Node, c.Version, c.Headroom = t, topology.NodeID(name), "bench", nodes.DefaultHeadroom
	c.Log = stderrLog()
	n, err := t.Node(c.Node)
	if err != nil {
		return err
	}
	if c.Keys, err = loadKeys(t, n.Identity()); err != nil {
		return err
	}
	return nodes.Run(ctx, c)
}

func stderrLog() *slog.Logger { return slog.New(slog.NewTextHandler(os.Stderr, nil)) }

func runClient(ctx context.Context, file, analysis, dir, lanes, chunk string) error {
	begin := time.Now()
	t, err := topology.Load(file)
	if err != nil {
		return err
	}
	cfg, err := clientConfig(t, analysis, dir)
	if err != nil {
		return err
	}
	if cfg.Lanes, err = strconv.Atoi(lanes); err != nil {
		return errUsage
	}
	if cfg.Chunk, err = strconv.Atoi(chunk); err != nil {
		return errUsage
	}
	a, err := client.Run(ctx, cfg)
	if err != nil {
		return err
	}
	return reportAnswer(begin, a, nil)
}

// reportTimes is reportAnswer for a client that has no answer. cpu is what it has spent in these times.
func reportTimes(times []time.Duration, cpu time.Duration) error {
	line, err := json.Marshal(childReport{memory: memoryOf("self"), CPU: cpu, Written: writtenBy("self"), Times: times})
	if err == nil {
		_, err = fmt.Printf("%s\n{}\n", line)
	}
	return err
}

// childReport is what the client and the oracle report to the parent.
type childReport struct {
	Answer []byte `json:"-"` // JSON of queries and rejected rows, without the parts that differ between runs
	memory

	Wall    time.Duration `json:"wall"`    // from the process' first step until it had the answer
	CPU     time.Duration `json:"cpu"`     // of the process, in the same time
	Written int64         `json:"written"` // bytes, to the disk

	Times []time.Duration `json:"times,omitempty"` // of each session, if there were several
}

// reportAnswer prints an answer of the client or the oracle; their JSON is the same from the queries on. One line with
// the costs comes first, then the answer as it is. No contestant's time includes writing, parsing and formatting the
// answer: for long answers that would be a quarter of a client's time.
func reportAnswer(begin time.Time, answer json.Marshaler, times []time.Duration) error {
	t := childReport{memory: memoryOf("self"), Wall: time.Since(begin), CPU: cpuTime(), Written: writtenBy("self"), Times: times}
	text, err := answer.MarshalJSON()
	if err != nil {
		return err
	}
	from := bytes.Index(text, []byte(`"queries"`))
	if from < 0 {
		return fmt.Errorf("%w: no queries in the JSON of an answer", errAnswer)
	}
	if to := bytes.LastIndex(text, []byte(`, "warnings": `)); to > from { // the client's warnings about its input, which come last
		text = append(text[:to], '}')
	}
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = (&net.Buffers{line, []byte("\n{"), text[from:]}).WriteTo(os.Stdout)
	return err
}

// errAnswer reports an answer that a child cannot pass on.
var errAnswer = errors.New("bad answer")

func decodeReport(r io.Reader) (t childReport, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return t, err
	}
	line, rest, _ := bytes.Cut(b, []byte{'\n'})
	if err := json.Unmarshal(line, &t); err != nil {
		return t, err
	}
	var compact bytes.Buffer // client and oracle put spaces in different places
	err = json.Compact(&compact, rest)
	t.Answer = compact.Bytes()
	return t, err
}
