package topology

import (
	_ "embed"
	"errors"
	"fmt"
	"maps"
	"slices"
)

//go:embed topology.toml.tmpl
var pageSource string

// page is the text that users read. The committed file, DefaultText and every generated variant are made from this one text, so they cannot
// contradict each other.
var page = newTemplate("topology.toml", pageSource)

// Variant is what Generate changes in the default topology, which has one host and a stage for each role. The zero Variant is the default.
// For anything else, write a file by hand.
type Variant struct {
	Name string // of the cluster; default "posta"
	Dir  string // of the nodes' data, absolute or relative to the directory of the file; default "cluster"

	// IPCDir puts all nodes on unix sockets in this absolute directory. Keep it short, see Host.Address.
	IPCDir string
	// Without IPCDir: the settings of the host. Without an address the host is local.
	Address, Bind    string
	Ports, BindPorts int

	// SplitParsers gives the parsers a stage of their own, 2 replicas unless Replicas says otherwise.
	SplitParsers bool
	// JoinInInput runs input, parser and joiner in one process: facts are folded where they are parsed. It excludes SplitParsers.
	JoinInInput bool
	// Replicas by stage name; default input 1, joiner 2, aggregator 2, reducer 1, output 1.
	Replicas map[string]int
	// Roots of [data].
	Roots []string
	// Settings of [limits] and [medics] in the file's notation: "limits.window": "1MiB", "medics.replicas": "0".
	Settings map[string]string
}

// DefaultText returns the default topology with its comments: the content of the project's topology.toml.
func DefaultText() string {
	text, err := Generate(Variant{})
	if err != nil {
		panic("topology: the default page: " + err.Error()) // TestDefaultTextIsTheCommittedFile
	}
	return text
}

// Default returns the parsed DefaultText. Its file name is topology.toml, in the working directory of the process.
func Default() *Topology {
	t, err := Parse("topology.toml", []byte(DefaultText()))
	if err != nil {
		panic("topology: the default page: " + err.Error()) // TestDefaultTextIsTheCommittedFile
	}
	return t
}

// Generate writes a variant of the default topology as a complete file with comments. Parse accepts what it returns. A variant with an
// unknown stage or setting, or with a value that no file may have, is an error.
func Generate(v Variant) (string, error) {
	stages, err := v.stages()
	if err != nil {
		return "", err
	}
	values, err := v.values()
	if err != nil {
		return "", err
	}
	text, err := fill(page, v.page(stages, values))
	if err != nil {
		return "", err
	}
	if _, err := Parse("generated topology", []byte(text)); err != nil {
		return "", fmt.Errorf("this variant of the topology is not possible: %w", err)
	}
	return text, nil
}

// stages returns the stages of the variant.
func (v Variant) stages() ([]Stage, error) {
	line := []Stage{
		{Name: "input", Chain: []Role{Input, Parser}, Replicas: 1},
		{Name: "joiner", Replicas: 2},
		{Name: "aggregator", Replicas: 2},
		{Name: "reducer", Replicas: 1},
		{Name: "output", Replicas: 1},
	}
	if v.JoinInInput {
		if v.SplitParsers {
			return nil, errors.New("a joiner in the input's process needs the parser there, and the parsers are to have processes of their own")
		}
		line[0].Chain = []Role{Input, Parser, Joiner}
		line = slices.Delete(line, 1, 2)
	}
	if v.SplitParsers {
		line[0].Chain = []Role{Input}
		line = slices.Insert(line, 1, Stage{Name: "parser", Replicas: 2})
	}
	var names []string
	for i := range line {
		s := &line[i]
		names = append(names, s.Name)
		if s.Chain == nil {
			s.Chain = []Role{Role(s.Name)}
		}
		if n, ok := v.Replicas[s.Name]; ok {
			s.Replicas = n
		}
	}
	for _, name := range slices.Sorted(maps.Keys(v.Replicas)) {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("replicas of stage %q: %w; %s", name, ErrNoStage, suggest(name, names))
		}
	}
	return line, nil
}

// values returns every entry of the settings table as TOML, by key.
func (v Variant) values() (map[string]string, error) {
	values, keys := map[string]string{}, []string{}
	for _, s := range settings {
		text, given := v.Settings[s.key()]
		if !given {
			text = s.def
		} else if err := s.set(&Topology{}, text); err != nil {
			return nil, fmt.Errorf("setting %s: %w; %s", s.key(), err, s.want())
		}
		values[s.key()] = s.literal(text)
		keys = append(keys, s.key())
	}
	for _, key := range slices.Sorted(maps.Keys(v.Settings)) {
		if !slices.Contains(keys, key) {
			return nil, fmt.Errorf("there is no setting %q; %s", key, insteadOf(key, key, keys))
		}
	}
	return values, nil
}
