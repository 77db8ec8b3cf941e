package topology

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestDefaultTextIsTheCommittedFile keeps the file that people read and the text that the program carries the same.
func TestDefaultTextIsTheCommittedFile(t *testing.T) {
	golden(t, "../topology.toml", DefaultText())
	tp, err := Load("../topology.toml")
	if err != nil {
		t.Fatal(err)
	}
	def := Default()
	if !reflect.DeepEqual(tp.Stages, def.Stages) || !reflect.DeepEqual(tp.Edges, def.Edges) || tp.Limits != def.Limits {
		t.Error("the committed file and the default differ")
	}
}

func TestDefaultTopology(t *testing.T) {
	tp := Default()
	var stages []string
	for _, s := range tp.Stages {
		stages = append(stages, fmt.Sprint(s.Name, s.Chain, s.Replicas))
	}
	if got, want := strings.Join(stages, " "),
		"input[input parser] 1 joiner[joiner] 2 aggregator[aggregator] 2 reducer[reducer] 1 output[output] 1"; got != want {
		t.Errorf("stages %s, want %s", got, want)
	}
	var edges []string
	for _, e := range tp.Edges {
		edges = append(edges, e.String())
	}
	want := []string{
		"input → joiner facts push any", "input → joiner reference pub all", "joiner → aggregator all push hash group",
		"aggregator → reducer all push hash session", "reducer → output all push all",
	}
	if !reflect.DeepEqual(edges, want) {
		t.Errorf("edges %q, want %q", edges, want)
	}
	wantLimits := Limits{
		Sessions: 8, Window: 16 * MiB, Chunk: MiB, Frame: 16 * MiB, Commit: 4 * MiB, Memory: giB, NodeMemory: 4 * giB, Tables: 48 * MiB,
		ClientShare: 50, Segment: 32 * MiB, Snapshot: 64 * MiB,
		ClientTimeout: 30 * time.Second, ResultsTTL: time.Hour, Results: 1024, ResultsSize: 16 * giB, Drain: 5 * time.Second,
		Handshake: 2 * time.Second, RetryAfter: time.Second,
	}
	if tp.Limits != wantLimits {
		t.Errorf("limits %+v, want %+v", tp.Limits, wantLimits)
	}
	if want := (Medics{Replicas: 3, Heartbeat: 100 * time.Millisecond, SuspectAfter: 800 * time.Millisecond,
		StuckAfter: 30 * time.Second}); tp.Medics != want {
		t.Errorf("medics %+v, want %+v", tp.Medics, want)
	}
	if tp.Name != "posta" || tp.DataDir != "cluster" || tp.Transport != "zmq" {
		t.Errorf("cluster %q %q %q", tp.Name, tp.DataDir, tp.Transport)
	}
}

// TestPageLeavesNothingOut: the page documents every setting, each with its range and its default.
func TestPageLeavesNothingOut(t *testing.T) {
	text := DefaultText()
	for _, s := range settings {
		if !strings.Contains(text, "\n"+s.name+" = "+s.literal(s.def)) {
			t.Errorf("%s is not on the page", s.key())
		}
		if !strings.Contains(text, "("+s.span()+")") {
			t.Errorf("the range of %s is not on the page", s.key())
		}
	}
	for i, l := range strings.Split(text, "\n") {
		if len([]rune(l)) > 132 {
			t.Errorf("line %d is too long to read: %s", i+1, l)
		}
	}
}

func TestGenerateGrid(t *testing.T) {
	for _, n := range []int{1, 2, 4, 64} {
		for _, split := range []bool{false, true} {
			for _, place := range []Variant{
				{}, {Ports: 7000}, {Address: "127.0.0.1"}, {IPCDir: "/run/p"}, {Address: "::1", Ports: 9000}, {Address: "{node}", Bind: "0.0.0.0"},
				{Address: "10.1.2.3", Bind: "127.0.0.1", Ports: 7000, BindPorts: 6000},
			} {
				v := place
				v.Name, v.Dir, v.SplitParsers = "grid", "/var/lib/a \"quoted\" dir\\é", split
				v.Replicas = map[string]int{"input": n, "joiner": n, "aggregator": n, "reducer": n, "output": n}
				v.Settings = map[string]string{"limits.window": "1MiB", "limits.chunk": "64KiB", "medics.replicas": "0", "medics.heartbeat": "50ms"}
				tp := variant(t, v)
				checkVariant(t, v, tp, n)
				if n == 1 && !split {
					delete(v.Replicas, "joiner")
					v.JoinInInput = true
					if tp := variant(t, v); len(tp.Nodes()) != 4 || !tp.Nodes()[0].Holds(Joiner) {
						t.Errorf("%+v: nodes %v", v, tp.Nodes())
					}
				}
			}
		}
	}
}

func checkVariant(t *testing.T, v Variant, tp *Topology, n int) {
	t.Helper()
	nodes := 5 * n
	if v.SplitParsers {
		nodes += 2
	}
	if len(tp.Nodes()) != nodes || len(tp.EntryPoints()) != n || len(tp.Outputs()) != n {
		t.Errorf("%+v: %d nodes, %d entry points, %d outputs", v, len(tp.Nodes()), len(tp.EntryPoints()), len(tp.Outputs()))
	}
	if tp.DataDir != v.Dir || tp.Limits.Window != MiB || tp.Limits.Chunk != 64*KiB || tp.Medics.Replicas != 0 ||
		tp.Medics.Heartbeat != 50*time.Millisecond {
		t.Errorf("%+v: settings are lost: %q %+v %+v", v, tp.DataDir, tp.Limits, tp.Medics)
	}
	again := parse(t, tp.Source())
	if !reflect.DeepEqual(again, tp) {
		t.Errorf("%+v: Source parses to another topology:\n%s", v, tp.Source())
	}
}

func TestSourceParsesToTheSame(t *testing.T) {
	for _, src := range []string{DefaultText(), twoHosts} {
		tp := parse(t, src)
		if again := parse(t, tp.Source()); !reflect.DeepEqual(again, tp) {
			t.Errorf("got %+v, want %+v", again, tp)
		}
	}
}

func TestGenerateRefuses(t *testing.T) {
	for want, v := range map[string]Variant{
		`did you mean "joiner"?`:         {Replicas: map[string]int{"jioner": 2}},
		`replicas of stage "parser"`:     {Replicas: map[string]int{"parser": 2}},
		`replicas = 0 is outside`:        {Replicas: map[string]int{"joiner": 0}},
		`did you mean "limits.window"?`:  {Settings: map[string]string{"limits.windows": "1MiB"}},
		`setting limits.window`:          {Settings: map[string]string{"limits.window": "lots"}},
		`is not a directory for sockets`: {IPCDir: "run"},
		`frame = 64KiB is too small`:     {Settings: map[string]string{"limits.frame": "64KiB"}},
		`needs the parser there`:         {JoinInInput: true, SplitParsers: true},
		`upload`:                         {JoinInInput: true, Replicas: map[string]int{"input": 2}},
		`replicas of stage "joiner"`:     {JoinInInput: true, Replicas: map[string]int{"joiner": 2}},
		`"Posta" is not a name`:          {Name: "Posta"},
		`holds a port`:                   {Address: "10.0.0.1:80"},
		`the ports of host "local" end`:  {Address: "127.0.0.1", Ports: 65535},
		`does not fit an address`:        {IPCDir: "/run/posta", Bind: "0.0.0.0"},
		`bind means nothing`:             {Bind: "0.0.0.0"},
		`unix sockets have no ports`:     {IPCDir: "/run/posta", BindPorts: 5500},
	} {
		text, err := Generate(v)
		if err == nil || !strings.Contains(err.Error(), want) || text != "" {
			t.Errorf("%+v: got %q and error %v, want an error with %s", v, text, err, want)
		}
	}
	if _, err := Generate(Variant{Replicas: map[string]int{"x": 1}}); !errors.Is(err, ErrNoStage) {
		t.Errorf("%v is not ErrNoStage", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/sub/t.toml"
	if err := os.MkdirAll(dir+"/sub", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(DefaultText()), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	tp, err := Load("sub/t.toml")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(tp.File, "/sub/t.toml") || !strings.HasPrefix(tp.File, "/") ||
		tp.DataDir != strings.TrimSuffix(tp.File, "t.toml")+"cluster" {
		t.Errorf("file %q and data %q are not absolute and side by side", tp.File, tp.DataDir)
	}
	if _, err := Load("nowhere.toml"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gives %v", err)
	}
	if err := os.WriteFile(path, []byte("[limit]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var all Errors
	if _, err := Load("sub/t.toml"); !errors.As(err, &all) || !strings.HasPrefix(err.Error(), "sub/t.toml:1:1: ") {
		t.Errorf("errors do not begin with the file's name as given: %v", err)
	}
	var one *Error
	if !errors.As(error(all), &one) || one.Pos != (Pos{1, 1}) {
		t.Errorf("a single Error cannot be taken out of %v", all)
	}
}
