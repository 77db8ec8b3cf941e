package medics

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"posta/medic/core"
	"posta/topology"
)

// recovery is one kill, step by step: each time is from the step before, total from the kill until something new is on its disk.
type recovery struct{ detect, restart, log, row, total time.Duration }

// TestRecoveryTable kills nodes of each kind under load and prints how long it takes until they work again. Heartbeats are 100 ms apart, so
// the steps after the restart are known to that.
func TestRecoveryTable(t *testing.T) {
	c := up(t, nil)
	l := c.load(20000)
	c.ear.until("all have had work", func() bool {
		return !slices.ContainsFunc(c.topo.Nodes(), func(n topology.Node) bool {
			return c.ear.times(life{n.ID, c.ear.incarnation(n.ID)}).flowing.IsZero()
		})
	})
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "killed\tkills\tdetect p50\tp95\trestart p50\tp95\tlog p50\tp95\tfirst row p50\tp95\ttotal p50\tp95")
	for _, id := range []topology.NodeID{"input-1", "joiner-1", "aggregator-1", "reducer-1", "output-1"} {
		var all []recovery
		for range *kills {
			all = append(all, c.recover(id))
			time.Sleep(1200 * time.Millisecond) // a healthy life, or the next death would be one in a row
		}
		fmt.Fprintf(w, "%s\t%d", id, len(all))
		for _, step := range []func(recovery) time.Duration{
			func(r recovery) time.Duration { return r.detect }, func(r recovery) time.Duration { return r.restart },
			func(r recovery) time.Duration { return r.log }, func(r recovery) time.Duration { return r.row },
			func(r recovery) time.Duration { return r.total },
		} {
			fmt.Fprintf(w, "\t%v\t%v", percentile(all, step, 50), percentile(all, step, 95))
		}
		fmt.Fprintln(w)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d analyses meanwhile, all answers right\n%s", l.end(), out.String())
}

func (c *cluster) recover(id topology.NodeID) (r recovery) {
	c.t.Helper()
	next := life{id, c.ear.incarnation(id) + 1}
	at := time.Now()
	c.signal(id, syscall.SIGKILL)
	c.ear.until(string(id)+" has work again", func() bool { return !c.ear.times(next).flowing.IsZero() })
	var told []core.Incident
	c.ear.until("the journal tells of it", func() bool {
		told = c.ear.incidents(at)
		return len(told) > 0 && !told[len(told)-1].Open
	})
	seen, i := c.ear.times(next), told[0]
	if len(told) != 1 || i.Node != id || i.Restarts != 1 {
		c.t.Errorf("M5: a kill of %s is told as %+v", id, told)
	}
	r.detect, r.restart = i.At.Sub(at), i.Restart
	r.log = max(0, seen.working.Sub(i.At.Add(i.Restart)))
	r.row, r.total = seen.flowing.Sub(seen.working), seen.flowing.Sub(at)
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
