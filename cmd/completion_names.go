package cmd

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/ask"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/faults"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/topology"
)

// valuesOf returns the values that a flag may have; nil if the shell should offer files.
func (x *command) valuesOf(c *cli.Command, flag string, words []string, current string) (all []string) {
	switch strings.TrimLeft(flag, "-") {
	case call.FlagResume:
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, ".sql") }) {
			return nil // a journal
		}
		return x.sessionIDs(words)
	case call.FlagFormat:
		return []string{"csv", "json", "jsonl", "parquet"}
	case call.FlagHost, deploy.FlagLost:
		if t := topologyIn(c, words); t != nil {
			return reach.HostNames(t)
		}
	case "fault":
		return []string{string(faults.Kill), string(faults.Hang), string(faults.Pause), string(faults.Cut)}
	case call.FlagRender:
		return []string{"compose", "systemd"}
	case "f", ask.FlagQuestions:
		if c.Name == "sql" {
			return statementFiles(current)
		}
	}
	return nil
}

// topologyIn returns the topology that words name, or else the one of this directory; nil if it cannot be read.
func topologyIn(c *cli.Command, words []string) *topology.Topology {
	file := "topology.toml"
	if i := slices.IndexFunc(words, func(w string) bool { return w == "--topology" || w == "-f" && takesValue(c, w) }); i >= 0 &&
		i+1 < len(words) {
		file = words[i+1]
	}
	t, err := topology.Load(file)
	if err != nil {
		return nil
	}
	return t
}

// sessionIDs asks the cluster that words name for its sessions. A person waits for the answer at the prompt, so it may take a second at
// most.
func (x *command) sessionIDs(words []string) (ids []string) {
	args := []string{"posta", "sessions", "--json", "--patience", "1s"}
	for i := 0; i+1 < len(words); i++ {
		if slices.Contains([]string{"-f", "--" + call.FlagTopology, "-e", "--" + call.FlagEntry, "--" + call.FlagKey}, words[i]) {
			args = append(args, words[i], words[i+1])
		}
	}
	var out bytes.Buffer
	if runWithin(x.Forced, x.Forced, x.program, args, Console{In: strings.NewReader(""), Out: &out, Err: io.Discard}) != exit.OK {
		return nil
	}
	var found struct {
		Sessions []struct {
			Session string `json:"session"`
		} `json:"sessions"`
	}
	if json.Unmarshal(out.Bytes(), &found) != nil {
		return nil
	}
	for _, s := range found.Sessions {
		ids = append(ids, s.Session)
	}
	return ids
}
