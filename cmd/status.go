package cmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/monitor"
	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
)

func (x *command) statusCommand() *cli.Command {
	return &cli.Command{
		Name:  "status",
		Usage: "all nodes and medics on one screen: state, speed, backlog, sessions, the last incidents",
		Description: `Listens to the nodes' heartbeats for a moment. A node that says nothing meanwhile is silent: dead, hung, or cut off from here.

` + exitHelp,
		Flags: []cli.Flag{topologyFlag(), keyFlag(), addressFlag(), jsonFlag(),
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "again and again, until Ctrl-C"}},
		Action: withTopology(x.status),
	}
}

// Times of a look at the cluster: as long as it takes to hear all nodes for long enough to tell speeds, or until a silent
// node would have sent ten heartbeats.
const (
	lookAtMost = 1500 * time.Millisecond
	speedSpan  = 400 * time.Millisecond
	watchEvery = time.Second
	silentFor  = 3 * time.Second // in the long run
)

func (x *command) status(c *cli.Context, t *topology.Topology) error {
	keys, err := x.clientKeys(c, t)
	if err != nil {
		return err
	}
	l, err := monitor.ListenToNodes(t.Nodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	w, err := monitor.ListenToMedics(t.MedicNodes(), keys)
	if err != nil {
		return err
	}
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithTimeout(c.Context, max(lookAtMost, 10*t.Medics.Heartbeat))
	defer cancel()
	view, err := l.Until(ctx, heardEnough)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, err := w.Until(ctx, medicsHeard); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	print := x.printStatus
	if c.Bool(flagJSON) {
		print = x.printStatusJSON
	}
	show := func(view []monitor.Status) error { return print(t, view, w.View()) }
	if c.Bool("watch") {
		return x.watch(c.Context, l, show)
	}
	if err := show(view); err != nil {
		return err
	}
	if refused := errors.Join(l.Refused(), w.Refused()); refused != nil {
		x.notef("%s", explainRefused(keys, refused))
	}
	if !slices.ContainsFunc(view, func(s monitor.Status) bool { return s.Heard }) {
		err = fmt.Errorf("%w: no node of %s is heard; start them with `posta up`, or name another topology with -f", errNothingAnswers, t.File)
		return err
	}
	return nil
}

func heardEnough(view []monitor.Status) (bool, error) {
	return !slices.ContainsFunc(view, func(s monitor.Status) bool { return s.Span < speedSpan }), nil
}

// medicsHeard: all of them, their leader, and what they remember.
func medicsHeard(m monitor.Medics) (bool, error) {
	return len(m.All) == 0 || m.Led && len(m.Entries) > 0 && !slices.ContainsFunc(m.All, func(x monitor.Medic) bool { return !x.Heard }), nil
}

// watch shows the board every second, in the same place if that is a terminal.
func (x *command) watch(ctx context.Context, l *monitor.Listener[[]monitor.Status], show func([]monitor.Status) error) error {
	_, isTerminal := terminal(x.Out)
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		if isTerminal {
			x.printf("\x1b[H\x1b[2J")
		}
		if err := show(l.View()); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil // Ctrl-C is how one leaves
		}
	}
}

func (x *command) printStatus(t *topology.Topology, view []monitor.Status, medics monitor.Medics) error {
	table := display.Table{
		Head:  []string{"node", "state", "inc", "pid", "heard", "up", "in/s", "out/s", "backlog", "log", "sessions"},
		Right: []bool{false, false, true, true, true, true, true, true, true, true, true},
	}
	up := 0
	for i := range view {
		if view[i].Up(silentFor) {
			up++
		}
		table.Rows = append(table.Rows, statusRow(&view[i]))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d of %s up\n", t.Name, up, display.Plural(len(view), "node"))
	for _, line := range table.Lines() {
		b.WriteString(line + "\n")
	}
	for _, line := range slices.Concat(troubleLines(view), damagedLines(view), busyLines(view)) {
		b.WriteString(line + "\n")
	}
	for _, line := range medicLines(medics) {
		b.WriteString(line + "\n")
	}
	_, err := x.Out.Write([]byte(b.String()))
	return err
}

func statusRow(s *monitor.Status) []string {
	if !s.Heard {
		return []string{string(s.Node.ID), "silent", "", "", "never", "", "", "", "", "", ""}
	}
	b := &s.Beat
	return []string{
		string(s.Node.ID), stateText(s), fmt.Sprint(b.ID.Incarnation), fmt.Sprint(b.PID), display.Span(s.Age) + " ago", display.Span(b.Uptime),
		display.Bytes(int64(s.InRate)), display.Bytes(int64(s.OutRate)), display.Bytes(int64(s.Backlog())), display.Bytes(int64(b.LogBytes)),
		fmt.Sprint(b.Sessions),
	}
}

// troubleLines say what is wrong with nodes that are heard. Nodes that have the same trouble, as with a broker that is away, share a line.
func troubleLines(view []monitor.Status) (lines []string) {
	nodes := map[string][]string{}
	var texts []string
	for i := range view {
		text := trouble(&view[i])
		if text == "" {
			continue
		}
		if nodes[text] == nil {
			texts = append(texts, text)
		}
		nodes[text] = append(nodes[text], string(view[i].Node.ID))
	}
	for _, text := range texts {
		lines = append(lines, "trouble: "+strings.Join(nodes[text], ", ")+": "+display.Escape(text))
	}
	return lines
}

// trouble is what a node that is not silent says is wrong with it.
func trouble(s *monitor.Status) string {
	if !s.Heard || s.Age > silentFor {
		return ""
	}
	return s.Beat.Trouble
}

// damagedLines say which nodes have got frames that were not what was sent (R18). No row is wrong for it, but something between the nodes is not sound.
func damagedLines(view []monitor.Status) (lines []string) {
	for i := range view {
		s := &view[i]
		if n := s.Beat.Damaged; n > 0 && s.Heard && s.Age <= silentFor {
			lines = append(lines, fmt.Sprintf(
				"damaged: %s: %s since its start did not arrive as sent, or not where it belongs; each is sent again, no row is lost: check the broker and its disk, and the hosts' memory",
				s.Node.ID, display.Plural(int(n), "frame")))
		}
	}
	return lines
}

// oldMark is how old a node's mark has to be before status shows what the node works on (N9).
const oldMark = 2 * time.Second

// busy reports whether a node that is heard has got nothing done for a while.
func busy(s *monitor.Status) bool { return s.Heard && s.Age <= silentFor && s.Beat.MarkAge >= oldMark }

// busyLines say what nodes work on that have got nothing done for a while. Such a node ends itself after medics.stuck_after.
func busyLines(view []monitor.Status) (lines []string) {
	for i := range view {
		s := &view[i]
		if !busy(s) {
			continue
		}
		line := fmt.Sprintf("busy: %s: nothing done for %s", s.Node.ID, display.Span(s.Beat.MarkAge))
		if b := &s.Beat; b.Role != "" {
			line += ": stage " + display.Escape(b.Role) + ", session " + b.Session.String()
			if b.Stream != "" {
				line += ", stream " + display.Escape(b.Stream)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// stateText is the state and, of a node with full links, who it waits for, whatever else is the matter with it.
func stateText(s *monitor.Status) string {
	if !s.Heard || s.Age > silentFor {
		return "silent"
	}
	var full []string
	for _, l := range s.Beat.Links {
		if l.Full {
			full = append(full, waitsFor(string(l.To), l.Edge))
		}
	}
	if len(full) == 0 {
		return string(s.Beat.State)
	}
	text := string(heartbeat.Blocked) + " on " + strings.Join(full, ", ")
	if s.Beat.State != heartbeat.Blocked {
		return string(s.Beat.State) + ", " + text
	}
	return text
}

func waitsFor(node, edge string) string {
	if node != "" {
		return node
	}
	return edge
}
