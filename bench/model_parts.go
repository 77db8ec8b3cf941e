package bench

import (
	"slices"
	"strings"
	"time"

	"posta.dev/posta/analyses"
	"posta.dev/posta/client"
	"posta.dev/posta/rows/fold"
	"posta.dev/posta/topology"
)

// modelKind is a part of a process, told by the stacks of its goroutines.
type modelKind struct {
	name   string
	begins []string // the function with which its goroutine begins contains one of these, or
	within []string // one of these functions is in its stack
	most   float64  // how many cores it can use in one process; 0: any number
	after  bool     // it begins when all rows have been read
}

// modelKinds are the parts of a node; the first one that fits counts. What fits none is the runtime's (the collector and the scheduler,
// which any number of cores share), or is the start and end of a process, which take the same time for any number of rows.
//
// The loop waits for its tasks (role.NewTask), which are coroutines, so both are one part. A node has a goroutine for each direction of
// each connection. They count as one, as if a single connection carried everything, which is the worst case. The same holds for the files
// that an input cuts. Of files of columns it decodes as many parts at once as its client has lanes. Requests belong to the end, because
// inputs read the files in place: what clients ask for then are answers.
var modelKinds = []modelKind{
	{name: "parsing", begins: []string{"nodes.(*preparing).add."}, most: piecesAside},
	{name: "cutting", begins: []string{"nodes/inplace.(*Reader).begin."}, most: 1},
	{name: "decoding", begins: []string{"nodes/inplace.(*Reader).beginPart."}, most: client.DefaultLanes},
	{name: "log", begins: []string{"nodes.committer", "nodes.(*node).run.gowrap"}, most: 1},
	{name: "sockets", begins: []string{"posta/zmqx.(", "posta/link/"}, most: 1},
	{name: "end", begins: []string{"runtime.corostart", "iter.Pull["}, most: 1, after: true,
		within: []string{"posta.dev/posta/nodes/core.(*Core).continueEndings", "posta.dev/posta/nodes.(*node).requests"}},
	{name: modelLoop, within: []string{"posta.dev/posta/nodes.(*node).run"}, most: 1},
	{name: "runtime"},
}

// modelLoop is the name of the loop's part, or of a process that is one part.
const modelLoop = "loop"

// piecesAside is how many pieces of files an input parses at once, however many cores there are (nodes/files.go).
const piecesAside = 16

// partsOf splits the CPU time of a node's process.
func partsOf(stacks []stack) map[string]time.Duration {
	all := map[string]time.Duration{}
	for i := range stacks {
		if kind := kindOf(&stacks[i]); kind != "" {
			all[kind] += stacks[i].spent
		}
	}
	return all
}

// kindOf returns the name of the part to which a stack belongs, or "" if it is of the start or the end of the process.
func kindOf(s *stack) string {
	if len(s.functions) == 0 {
		return ""
	}
	begins := s.functions[len(s.functions)-1]
	for _, k := range modelKinds {
		if slices.ContainsFunc(k.begins, func(part string) bool { return strings.Contains(begins, part) }) ||
			slices.ContainsFunc(k.within, func(f string) bool { return slices.Contains(s.functions, f) }) {
			return k.name
		}
	}
	if begins == "runtime.main" || strings.HasPrefix(begins, "runtime/pprof.") {
		return ""
	}
	return "runtime"
}

// clientParts returns the CPU time of the client as one part, without that of writing the answer, which no measured time includes.
func clientParts(stacks []stack) map[string]time.Duration {
	total := time.Duration(0)
	for _, s := range stacks {
		if !slices.Contains(s.functions, writesAnswer) {
			total += s.spent
		}
	}
	return map[string]time.Duration{modelLoop: total}
}

const writesAnswer = "posta.dev/posta/bench.reportAnswer"

// modelProcess is the processes of one stage, or the client.
type modelProcess struct {
	name     string
	replicas int
	alone    bool // a session has one such process; otherwise any number of them share the work
	after    bool // all of its work begins when all rows have been read
	spent    map[string]time.Duration
}

// answersAlone reports whether a stage makes the answers: a session has one reducer and one output.
func answersAlone(chain []topology.Role) bool {
	return slices.Contains(chain, topology.Reducer) || slices.Contains(chain, topology.Output)
}

// passesOn reports whether rows of the answers reach the reducer and the output while others are still read: those of bags do.
func passesOn(a *analyses.Analysis) bool {
	return slices.ContainsFunc(a.Tables, func(t fold.Spec) bool {
		return t.Merge == fold.Never && !slices.ContainsFunc(a.Tables, func(made fold.Spec) bool { return slices.Contains(made.From, t.Name) })
	})
}

// add adds the CPU time of parts.
func (p *modelProcess) add(parts map[string]time.Duration) {
	if p.spent == nil {
		p.spent = map[string]time.Duration{}
	}
	for name, spent := range parts {
		p.spent[name] += spent
	}
}

// modelParts makes the model of a cluster from the CPU time of its processes, measured over a number of rows, for times as many inputs,
// joiners and aggregators.
func modelParts(measured []modelProcess, rows int, times float64) (parts []modelPart) {
	for _, p := range measured {
		for _, k := range modelKinds {
			spent := p.spent[k.name]
			if spent == 0 {
				continue
			}
			x := modelPart{name: p.name + ": " + k.name, cost: float64(spent.Nanoseconds()) / float64(rows), after: k.after || p.after}
			switch {
			case k.most == 0:
			case p.alone:
				x.most = k.most
			default:
				x.most = k.most * float64(p.replicas) * times
			}
			parts = append(parts, x)
		}
	}
	return parts
}
