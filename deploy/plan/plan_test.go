package plan

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/topology"
)

var update = flag.Bool("update", false, "rewrite the plans in testdata")

// variant is a topology over two hosts.
type variant struct {
	joiners, aggregators, outputs, medics int
	outputOn                              string // host; "" is both
	sessions                              int
	splitParsers                          bool
	image                                 string
	memory                                string
	oneMachine                            bool
	console                               bool
	keys                                  string // what the digests of all keys begin with; "" is a cluster without
}

func (v variant) want(t *testing.T) Desired {
	t.Helper()
	a, b := "10.0.0.1", "10.0.0.2"
	if v.oneMachine {
		a, b = "127.0.0.1", "127.0.0.1"
	}
	var s strings.Builder
	fmt.Fprintf(&s, "[hosts.a]\naddress = %q\nports = 5500\n", a)
	if v.memory != "" {
		fmt.Fprintf(&s, "memory = %q\n", v.memory)
	}
	fmt.Fprintf(&s, "[hosts.b]\naddress = %q\nports = 6500\n", b)
	chain := `["input", "parser"]`
	if v.splitParsers {
		chain = `["input"]`
	}
	fmt.Fprintf(&s, "[[stage]]\nname = \"input\"\nchain = %s\nhosts = [\"a\"]\n", chain)
	if v.splitParsers {
		s.WriteString("[[stage]]\nname = \"parser\"\nhosts = [\"b\"]\n")
	}
	fmt.Fprintf(&s, "[[stage]]\nname = \"joiner\"\nreplicas = %d\n", max(1, v.joiners))
	fmt.Fprintf(&s, "[[stage]]\nname = \"aggregator\"\nreplicas = %d\n", max(1, v.aggregators))
	s.WriteString("[[stage]]\nname = \"reducer\"\nhosts = [\"b\"]\n")
	fmt.Fprintf(&s, "[[stage]]\nname = \"output\"\nreplicas = %d\n", max(1, v.outputs))
	if v.outputOn != "" {
		fmt.Fprintf(&s, "hosts = [%q]\n", v.outputOn)
	}
	if v.splitParsers {
		for _, streams := range []string{"facts", "reference"} {
			fmt.Fprintf(&s, "[[edge]]\nfrom = \"input\"\nto = \"parser\"\nstreams = %q\nroute = \"any\"\n", streams)
		}
	}
	from := "input"
	if v.splitParsers {
		from = "parser"
	}
	fmt.Fprintf(&s, "[[edge]]\nfrom = %q\nto = \"joiner\"\nstreams = \"facts\"\nroute = \"any\"\n", from)
	fmt.Fprintf(&s, "[[edge]]\nfrom = %q\nto = \"joiner\"\nstreams = \"reference\"\nsocket = \"pub\"\nroute = \"all\"\n", from)
	s.WriteString("[[edge]]\nfrom = \"joiner\"\nto = \"aggregator\"\nroute = \"hash\"\nkey = \"group\"\n")
	s.WriteString("[[edge]]\nfrom = \"aggregator\"\nto = \"reducer\"\nroute = \"hash\"\nkey = \"session\"\n")
	s.WriteString("[[edge]]\nfrom = \"reducer\"\nto = \"output\"\nroute = \"all\"\n")
	console := ""
	if v.console && v.medics > 0 {
		console = "127.0.0.1:8080"
	}
	fmt.Fprintf(&s, "[medics]\nreplicas = %d\nconsole = %q\n[limits]\nsessions = %d\n", v.medics, console, max(1, v.sessions))
	top, err := topology.Parse("topology.toml", []byte(s.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, s.String())
	}
	image := v.image
	if image == "" {
		image = "posta:sha-1"
	}
	d, err := FromTopology(top, s.String(), image, "amd64", v.keysOf(top))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// keysOf returns the digests of the keys of all units.
func (v variant) keysOf(t *topology.Topology) map[string]string {
	keys := map[string]string{}
	if v.keys != "" {
		for _, n := range t.All() {
			keys[string(n.ID)] = v.keys + " of " + string(n.ID)
			keys[topology.ConsoleName(n)] = keys[string(n.ID)]
		}
	}
	return keys
}

var twoHosts = map[string][]string{"E1": {"a"}, "E2": {"b"}}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what is planned (go test -update rewrites it):\n%s", file, got)
	}
}

// named replaces digests by numbers in the order of their appearance, because digests change with every new default of
// the topology.
func named(text string) string {
	seen := map[string]string{}
	return regexp.MustCompile(`-[0-9a-f]{8}\)`).ReplaceAllStringFunc(text, func(d string) string {
		if seen[d] == "" {
			seen[d] = fmt.Sprintf("-%08d)", len(seen)+1)
		}
		return seen[d]
	})
}

// What `posta deploy --plan` prints, for each way from one topology to the next.
func TestPlans(t *testing.T) {
	base := variant{joiners: 1, aggregators: 1, outputs: 2, medics: 2}
	for name, c := range map[string]struct {
		from, to *variant
		prepare  func(*world)
	}{
		"first":       {to: &base},
		"nothing":     {from: &base, to: &base},
		"limits":      {from: &base, to: &variant{joiners: 1, aggregators: 1, outputs: 2, medics: 2, sessions: 3}},
		"image":       {from: &base, to: &variant{joiners: 1, aggregators: 1, outputs: 2, medics: 2, image: "posta:sha-2"}},
		"memory":      {from: &base, to: &variant{joiners: 1, aggregators: 1, outputs: 2, medics: 2, memory: "2GiB"}},
		"joiners":     {from: &base, to: &variant{joiners: 3, aggregators: 1, outputs: 2, medics: 2}},
		"fewer":       {from: &variant{joiners: 3, aggregators: 2, outputs: 2, medics: 3}, to: &base},
		"moved":       {from: &variant{outputs: 1, outputOn: "a", medics: 2}, to: &variant{outputs: 1, outputOn: "b", medics: 2}},
		"fewermedics": {from: &base, to: &variant{joiners: 1, aggregators: 1, outputs: 2, medics: 1}},
		"chain":       {from: &base, to: &variant{joiners: 1, aggregators: 1, outputs: 2, medics: 2, splitParsers: true}},
		"removed": {from: &base, to: &base, prepare: func(w *world) { // by hand
			e := w.engine("b")
			e.Containers = e.Containers[1:]
			e.Networks = nil
			e.Containers[0].Running = false
		}},
		"firstkeys":  {to: &variant{medics: 2, keys: "one"}},
		"newkeys":    {from: &variant{medics: 2, keys: "one"}, to: &variant{medics: 2, keys: "two"}},
		"keyedimage": {from: &variant{medics: 2, keys: "one"}, to: &variant{medics: 2, keys: "two", image: "posta:sha-2"}},
		"withkeys":   {from: &variant{medics: 2}, to: &variant{medics: 2, keys: "one"}},
		"onemachine": {to: &variant{medics: 1, oneMachine: true}},
	} {
		t.Run(name, func(t *testing.T) {
			hosts := twoHosts
			if c.to.oneMachine {
				hosts = map[string][]string{"E1": {"a", "b"}}
			}
			w := newWorld(t, hosts)
			if c.from != nil {
				w.carryOut(c.from.want(t), -1)
			}
			if c.prepare != nil {
				c.prepare(w)
			}
			d := c.to.want(t)
			p, err := Make(d, w.observed())
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name, named(p.Text(&d)))
			w.carryOut(d, -1)
			if n := w.carryOut(d, -1); n != 0 {
				t.Fatalf("said again it has %d steps", n)
			}
		})
	}
}

func random(r *rand.Rand) variant {
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	return variant{
		joiners: 1 + r.IntN(3), aggregators: 1 + r.IntN(3), outputs: 1 + r.IntN(2), medics: r.IntN(4), outputOn: pick("", "a", "b"),
		sessions: 1 + r.IntN(2), splitParsers: r.IntN(4) == 0, image: pick("posta:sha-1", "posta:sha-2"), memory: pick("", "2GiB"),
		keys: pick("", "one", "two"), console: r.IntN(3) == 0,
	}
}

// A deploy is interrupted after every step, and the next one in the middle of its own steps. The run after that ends
// with the same state as a deploy without interruption, and one more run does nothing.
func TestInterruptedAnywhere(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 6))
			from, to := random(r), random(r)
			start := newWorld(t, twoHosts)
			start.carryOut(from.want(t), -1)
			d := to.want(t)
			d.LoseResults = true
			whole := start.clone()
			steps := whole.carryOut(d, -1)
			for cut := range steps {
				w := start.clone()
				w.carryOut(d, cut)
				if again := w.clone(); true {
					left := again.carryOut(d, 0)
					again.carryOut(d, r.IntN(left+1))
					again.carryOut(d, -1)
					if again.end() != whole.end() {
						t.Fatalf("cut off behind step %d of %d, and again, it ends as\n%s\nand uncut as\n%s", cut, steps, again.end(), whole.end())
					}
				}
				w.carryOut(d, -1)
				if w.end() != whole.end() {
					t.Fatalf("cut off behind step %d of %d it ends as\n%s\nand uncut as\n%s", cut, steps, w.end(), whole.end())
				}
				if n := w.carryOut(d, -1); n != 0 {
					t.Fatalf("cut off behind step %d and carried out, it still has %d steps", cut, n)
				}
			}
		})
	}
}

// units returns the final state without revisions: one of the second topology may have been saved.
func units(w *world) string {
	return regexp.MustCompile(`(?m)^\S+ ledger of .*$\n?`).ReplaceAllString(w.end(), "")
}

// A rolling update that is interrupted after any step can be rolled back: every unit then runs in the container of the
// first image.
func TestARollThatWasCutOffIsTakenBack(t *testing.T) {
	one, two := variant{medics: 2}.want(t), variant{medics: 2, image: "posta:sha-2"}.want(t)
	start := newWorld(t, twoHosts)
	start.carryOut(one, -1)
	whole := start.clone()
	for cut := range whole.carryOut(two, -1) {
		w := start.clone()
		w.carryOut(two, cut)
		w.carryOut(one, -1)
		if units(w) != units(start) {
			t.Fatalf("cut off behind step %d and taken back it ends as\n%s\nand began as\n%s", cut, w.end(), start.end())
		}
		if n := w.carryOut(one, -1); n != 0 {
			t.Fatalf("cut off behind step %d and taken back, it still has %d steps", cut, n)
		}
	}
}

// After half a deploy, a rollback or another deploy starts from what exists on the hosts, not from what was intended.
func TestAnotherWayInTheMiddle(t *testing.T) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 7))
		v := []variant{random(r), random(r), random(r)}
		w := newWorld(t, twoHosts)
		w.carryOut(v[0].want(t), -1)
		for range 4 {
			d := v[r.IntN(3)].want(t)
			d.LoseResults = true
			n := w.clone().carryOut(d, 0)
			w.carryOut(d, r.IntN(n+1))
		}
		d := v[0].want(t)
		d.LoseResults = true
		w.carryOut(d, -1)
		if n := w.carryOut(d, -1); n != 0 {
			t.Fatalf("seed %d: %d steps are left", seed, n)
		}
	}
}

// The data of a node that moves goes with it. The data of a node that stays is not touched.
func TestAMovedNodeKeepsItsData(t *testing.T) {
	w := newWorld(t, twoHosts)
	w.carryOut(variant{outputs: 1, outputOn: "a"}.want(t), -1)
	before, reducer := w.data["E1/posta-output-1"], w.data["E2/posta-reducer-1"]
	w.carryOut(variant{outputs: 1, outputOn: "b"}.want(t), -1)
	if w.data["E2/posta-output-1"] != before || w.data["E1/posta-output-1"] != "" || w.data["E2/posta-reducer-1"] != reducer {
		t.Fatalf("data is %v", w.data)
	}
}

// A node that leaves and comes back begins again: its peers have forgotten what was on their links (R2, R4).
func TestANodeThatComesBackBeginsAnew(t *testing.T) {
	w := newWorld(t, twoHosts)
	three, one := variant{joiners: 3}.want(t), variant{joiners: 1}.want(t)
	w.carryOut(three, -1)
	before := w.data["E1/posta-joiner-3"]
	w.carryOut(one, -1)
	w.carryOut(three, -1)
	if now := w.data["E1/posta-joiner-3"]; now == before || now == "" {
		t.Fatalf("joiner-3 had %q and comes back with %q", before, now)
	}
}

// A host that was given up comes back with old containers and old data: these are removed, and what was created
// meanwhile stays.
func TestALostHostComesBack(t *testing.T) {
	w := newWorld(t, twoHosts)
	w.carryOut(variant{outputs: 1, outputOn: "b"}.want(t), -1)
	w.dead["E1"] = true
	top := strings.ReplaceAll(variant{outputs: 1}.want(t).File, `["a"]`, `["b"]`)
	top = strings.Replace(top, "[hosts.a]\naddress = \"10.0.0.1\"\nports = 5500\n", "", 1)
	parsed, err := topology.Parse("topology.toml", []byte(top))
	if err != nil {
		t.Fatal(err)
	}
	d, err := FromTopology(parsed, top, "posta:sha-1", "amd64", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Make(d, w.observed()); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--cancel-sessions") {
		t.Fatalf("the inputs are lost, and with them who knows of sessions: %v", err)
	}
	d.LoseSessions = true
	w.carryOut(d, -1)
	now := w.data["E2/posta-input-1"]
	w.dead["E1"] = false
	for i := range w.engines[0].Containers {
		w.engines[0].Containers[i].Running = false // the host was switched on, and only medics start nodes
	}
	w.carryOut(d, -1)
	if len(w.engines[0].Containers) != 0 || len(w.engines[0].Volumes) != 0 || w.data["E2/posta-input-1"] != now {
		t.Fatalf("%+v\n%v", w.engines[0], w.data)
	}
}

// A stopped cluster may have unfinished sessions: it is started once more before its shape changes.
func TestAClusterThatStandsStillIsAskedFirst(t *testing.T) {
	w := newWorld(t, twoHosts)
	one, three := variant{joiners: 1, medics: 1}.want(t), variant{joiners: 3, medics: 1}.want(t)
	w.carryOut(one, -1)
	for i := range w.engines {
		for j := range w.engines[i].Containers {
			w.engines[i].Containers[j].Running = false
		}
	}
	p, err := Make(three, w.observed())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "stopped", named(p.Text(&three)))
	w.carryOut(three, -1)
}

// A cluster that was taken down continues in its own shape, or in another one if no session was left.
func TestTakenDownAndUpAgain(t *testing.T) {
	for _, drained := range []bool{true, false} {
		w := newWorld(t, twoHosts)
		one, three := variant{joiners: 1, medics: 2}.want(t), variant{joiners: 3, medics: 2}.want(t)
		w.carryOut(one, -1)
		if !drained { // switched off
			for i := range w.engines {
				for j := range w.engines[i].Containers {
					w.engines[i].Containers[j].Running = false
				}
			}
		}
		down := TakeDown(one, w.observed(), false)
		if drained {
			golden(t, "down", named(down.Text(&one)))
		}
		w.held = false
		for _, s := range down.Steps {
			w.do(s, false)
		}
		if left := TakeDown(one, w.observed(), false); len(left.Steps) != 0 {
			t.Fatalf("said again it has %v", left.Steps)
		}
		again := w.clone()
		again.carryOut(one, -1)
		_, err := Make(three, w.observed())
		if drained != (err == nil) {
			t.Fatalf("sessions had come to their end: %v, and another shape: %v", drained, err)
		}
		if drained {
			w.carryOut(three, -1)
		}
	}
}

func TestRefusals(t *testing.T) {
	good := variant{outputs: 1, outputOn: "a"}
	for name, c := range map[string]struct {
		change func(*world, *Desired)
		says   string
	}{
		"clock":        {func(w *world, _ *Desired) { w.engines[1].Offset = -time.Minute }, "clock of host \"b\" is off by 1m"},
		"architecture": {func(w *world, _ *Desired) { w.engines[0].Arch = "arm64" }, "host \"a\" is arm64"},
		"system":       {func(w *world, _ *Desired) { w.engines[0].OS = "windows" }, "windows"},
		"silence":      {func(w *world, _ *Desired) { w.dead["E2"] = true }, "host \"b\" did not answer"},
		"results": {func(w *world, d *Desired) {
			w.carryOut(good.want(w.t), -1)
			w.engines[0].Volumes[0].Chain = "output" // of input-1: whatever has results
			for i := range w.engines {
				for j := range w.engines[i].Volumes {
					if w.engines[i].Volumes[j].Node == "output-1" {
						w.engines[i].Volumes[j].Chain = "reducer+output"
					}
				}
			}
		}, "--lose-results"},
		"volume of nobody": {func(w *world, d *Desired) {
			w.engine(d.Units[0].Host).Strangers = []string{"x", VolumeName(d.Cluster, d.Units[0].Name)}
		}, "docker volume rm "},
		"loopback": {func(_ *world, d *Desired) { *d = variant{oneMachine: true}.want(t) }, "addresses that only their own machine can dial"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, twoHosts)
			d := good.want(t)
			c.change(w, &d)
			_, err := Make(d, w.observed())
			if !errors.Is(err, ErrRefused) || !strings.Contains(fmt.Sprint(err), c.says) {
				t.Fatalf("%v", err)
			}
		})
	}
	w := newWorld(t, twoHosts)
	w.engines[0].Offset, w.engines[0].OffsetError = 700*time.Millisecond, 300*time.Millisecond
	if p, err := Make(good.want(t), w.observed()); err != nil || len(p.Warnings) != 0 {
		t.Fatalf("a clock that may be right is noted: %v, %v", err, p.Warnings)
	}
	w.engines[0].OffsetError = 0
	if p, err := Make(good.want(t), w.observed()); err != nil || len(p.Warnings) != 1 {
		t.Fatalf("a clock that is off is not noted: %v, %v", err, p.Warnings)
	}
}

// The revisions keep this topology and the one before, wherever deploys are interrupted.
func TestRevisionsAreTwo(t *testing.T) {
	w := newWorld(t, twoHosts)
	var digests []string
	for i := range 4 {
		d := variant{sessions: i + 1}.want(t)
		w.carryOut(d, -1)
		digests = append(digests, d.RevisionDigest())
	}
	o := w.observed()
	good := o.Revisions()
	if len(good) != 2 || good[0].Digest != digests[3] || good[1].Digest != digests[2] {
		t.Fatalf("the revisions are %+v", good)
	}
}
