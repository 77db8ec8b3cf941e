package clustertest

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"posta.dev/posta/medic/core"
	"posta.dev/posta/topology"
)

// recovery is one kill, step by step: each time is from the step before. Running counts from the kill until the node has recovered its log
// and works, total until something new is on its disk.
type recovery struct{ detect, restart, log, row, running, total time.Duration }

// RecoveryTable kills one target after the other, each so many times, and prints how long it takes until it works
// again. Heartbeats are 100 ms apart, so the steps after the restart are known to that. It needs a load, or nothing new
// is ever on a disk. The last column is the 95th percentile of the first commit over that of running.
func (w *Cluster) RecoveryTable(kill func(topology.NodeID), kills int, ids ...topology.NodeID) string {
	w.t.Helper()
	w.Until("all have had work", func() bool {
		return !slices.ContainsFunc(w.Topology.Nodes(), func(n topology.Node) bool {
			return w.Times(Life{n.ID, w.Incarnation(n.ID)}).Flowing.IsZero()
		})
	})
	var out strings.Builder
	tab := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tab, "killed\tkills\tdetect p50\tp95\trestart p50\tp95\tlog p50\tp95\tfirst row p50\tp95\trunning p50\tp95\tfirst commit "+
		"p50\tp95\tto running")
	running, total := func(r recovery) time.Duration { return r.running }, func(r recovery) time.Duration { return r.total }
	for _, id := range ids {
		var all []recovery
		for range kills {
			all = append(all, w.recover(kill, id))
			time.Sleep(1200 * time.Millisecond) // a healthy life, or the next death would be one in a row
		}
		fmt.Fprintf(tab, "%s\t%d", id, len(all))
		for _, step := range []func(recovery) time.Duration{
			func(r recovery) time.Duration { return r.detect }, func(r recovery) time.Duration { return r.restart },
			func(r recovery) time.Duration { return r.log }, func(r recovery) time.Duration { return r.row },
			running, total,
		} {
			fmt.Fprintf(tab, "\t%v\t%v", percentile(all, step, 50), percentile(all, step, 95))
		}
		fmt.Fprintf(tab, "\t%.2f\n", float64(percentile(all, total, 95))/float64(percentile(all, running, 95)))
	}
	if err := tab.Flush(); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

func (w *Cluster) recover(kill func(topology.NodeID), id topology.NodeID) (r recovery) {
	w.t.Helper()
	next := Life{id, w.Incarnation(id) + 1}
	at := time.Now()
	kill(id)
	w.Until(string(id)+" has work again", func() bool { return !w.Times(next).Flowing.IsZero() })
	var told []core.Incident
	w.Until("the journal reports it", func() bool {
		told = w.Incidents(at)
		return len(told) > 0 && !told[len(told)-1].Open
	})
	seen, i := w.Times(next), told[0]
	if len(told) != 1 || i.Node != id || !RestartedOnce(i) {
		w.t.Errorf("M5: a kill of %s is told as %+v", id, told)
	}
	r.detect, r.restart = i.At.Sub(at), i.Restart
	r.log = max(0, seen.Working.Sub(i.At.Add(i.Restart)))
	r.row, r.running, r.total = seen.Flowing.Sub(seen.Working), seen.Working.Sub(at), seen.Flowing.Sub(at)
	return r
}

// percentile rounds up: of few values the 95th is the largest.
func percentile(all []recovery, of func(recovery) time.Duration, p int) time.Duration {
	values := make([]time.Duration, len(all))
	for i, r := range all {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[min(len(values)-1, (len(values)*p+99)/100-1)].Round(time.Millisecond)
}
