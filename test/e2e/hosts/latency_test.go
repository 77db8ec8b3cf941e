//go:build docker && linux

package hosts

import (
	"bytes"
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/test/e2e/clustertest"
	"posta.dev/posta/test/e2e/hosts/rack"
)

// What lies between the hosts: 10 ms in each direction, as with tc netem on both ends of the link, and nothing or one frame in a hundred
// lost.
var (
	whole = rack.Impairment{Delay: 10 * time.Millisecond}
	lossy = rack.Impairment{Delay: 10 * time.Millisecond, Loss: 0.01}
)

// holds is how much of its speed a cluster has to keep.
const holds = 0.8

// TestLatency has all facts cross a link that takes 20 ms there and back, and compares how fast they do with and without loss, in turns.
// What loss costs is the kernel's to say: its TCP has to tell loss from a full line, as bbr does. With reno (and cubic) the same links
// crawl, each at 1.2 segments/(20 ms × √0.01); -reno shows it.
func TestLatency(t *testing.T) {
	r := rack.New(t, 2, rack.Options{Impaired: true})
	image(t, r.Hosts[0], "posta", "1")
	must(t, r.Hosts[1].Load(r.Hosts[0], "posta"))
	job := clustertest.Bikes(t, *rows)
	if ratio := race(t, r, "bbr", job); ratio < holds {
		t.Errorf("with loss it is %.2f of what it is without, and should be %.1f", ratio, holds)
	}
	if *reno {
		race(t, r, "reno", job)
	}
}

// race returns how fast a job is with loss, over how fast it is without.
func race(t *testing.T, r *rack.Rack, control string, job clustertest.Job) float64 {
	t.Helper()
	for _, h := range r.Hosts {
		must(t, h.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/tcp_congestion_control", []byte(control), 0o644) }))
	}
	c := newCluster(t, r, onB)
	for _, h := range r.Hosts {
		c.compose(h, "up", "-d")
	}
	t.Cleanup(c.showLogs)
	clustertest.New(t, c.topo)
	var without, with []time.Duration
	ratio := 0.0
	// Whatever else the machine does makes a run slower, never faster, so the best runs are compared, and a ratio that is too low may be
	// chance for some rounds: what loss costs with reno, a factor of three and more, does not go away.
	for n := 0; n < *rounds || n < 4**rounds && ratio < holds; n++ {
		must(t, r.Hosts[1].Impair(whole))
		without = append(without, analyse(t, c, job))
		must(t, r.Hosts[1].Impair(lossy))
		with = append(with, analyse(t, c, job))
		ratio = slices.Min(without).Seconds() / slices.Min(with).Seconds()
	}
	must(t, r.Hosts[1].Impair(rack.Impairment{}))
	for _, h := range r.Hosts {
		c.compose(h, append([]string{"stop"}, c.medics(h)...)...)
		c.compose(h, "down", "-v")
	}
	t.Logf("%s: without loss %v, with loss %v, ratio of the best %.2f", control, without, with, ratio)
	return ratio
}

func analyse(t *testing.T, c *cluster, j clustertest.Job) time.Duration {
	t.Helper()
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	answer, err := client.Run(ctx, client.Config{Entries: append(c.topo.EntryPoints(), c.topo.Outputs()...), Analysis: j.Analysis, Dir: j.Dir})
	must(t, err)
	took := time.Since(began)
	if got := clustertest.Answer(t, answer); !bytes.Equal(got, j.Want) {
		t.Errorf("D1: an answer differs: %.300s", got)
	}
	return took
}
