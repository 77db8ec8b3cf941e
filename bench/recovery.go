package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"posta.dev/posta/nodes/heartbeat"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// measureRecovery kills a joiner in the middle of a session and restarts it at once. It measures how long it takes until the
// joiner runs again, and how much time the session loses. In another session, a broker is killed and restarted. The time
// until medics notice a dead process is not included (docs/medics.md).
func measureRecovery(ctx context.Context, c *Config) (done Section, err error) {
	s, err := workloadOf("bikes")
	if err != nil {
		return done, err
	}
	facts := c.factsOr(s.facts)
	data, _, err := s.sanitizedData(c.Dir, facts)
	if err != nil {
		return done, err
	}
	done.About = fmt.Sprintf("a joiner, and in another session the broker, is killed in the middle of %d trips and started again at once; "+
		"the answers have to be the same", facts)
	return c.durableClusters(ctx, done, func(ctx context.Context, x *contestant) ([]Measure, error) {
		undisturbed, err := x.run(ctx, c, s, data)
		if err != nil {
			return nil, err
		}
		hit, back, err := x.disturbed(ctx, c, s, data, &undisturbed, func(ctx context.Context, n *cluster) (time.Duration, error) {
			return n.replace(ctx, x.verb(), victim)
		})
		if err != nil {
			return nil, err
		}
		measures := []Measure{
			{"running again", "ms", float64(back.Microseconds()) / 1e3},
			{"wall", "s", hit.Wall.Seconds()},
			{"undisturbed", "s", undisturbed.wall.Seconds()},
			{"lost", "ms", float64((hit.Wall - undisturbed.wall).Milliseconds())},
		}
		if x.broker == nil {
			return measures, nil
		}
		hit, back, err = x.disturbed(ctx, c, s, data, &undisturbed, func(ctx context.Context, n *cluster) (time.Duration,
			error) {
			return n.replaceBroker(ctx)
		})
		return append(measures,
			Measure{"broker answers again", "ms", float64(back.Microseconds()) / 1e3},
			Measure{"wall, broker killed", "s", hit.Wall.Seconds()},
			Measure{"lost to it", "ms", float64((hit.Wall - undisturbed.wall).Milliseconds())},
		), err
	})
}

// fault kills something, has it restarted, and returns how long it was down.
type fault func(context.Context, *cluster) (time.Duration, error)

// disturbed runs a session with a fault in its middle. Its answers must be those of the undisturbed session.
func (x *contestant) disturbed(ctx context.Context, c *Config, s *workload, data string, undisturbed *result, hit fault) (o childReport,
	back time.Duration, err error) {
	for after := undisturbed.wall * 2 / 5; ; after /= 2 { // this session may be faster than the undisturbed one
		o, back, err = x.runWithFault(ctx, c, s, data, after, hit)
		if after == 0 || !errors.Is(err, errTooLate) {
			break
		}
	}
	if err == nil && !bytes.Equal(o.Answer, undisturbed.answer) {
		err = errors.New("the answers after a kill are not those without")
	}
	return o, back, err
}

// errTooLate reports a session that ended before the kill.
var errTooLate = errors.New("the session ended before a node was killed; give more --rows")

// victim is a node that every topology of a race has.
const victim topology.NodeID = "joiner-1"

// runWithFault runs a session on a cluster, with a fault after a while.
func (x *contestant) runWithFault(
	ctx context.Context, c *Config, s *workload, data string, after time.Duration, hit fault,
) (o childReport, back time.Duration, err error) {
	label := x.name + "-recovery"
	n, err := x.start(ctx, c, label)
	if err != nil {
		return o, 0, err
	}
	if x.broker != nil {
		time.Sleep(x.broker.minUptime)
	}
	type ended struct {
		childReport
		err error
	}
	client := make(chan ended, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		o, err := c.run(ctx, label+"-client", append([]string{"client", n.topo.File}, c.clientArgs(s, data)...)...)
		client <- ended{o, err}
	}()
	select {
	case <-time.After(after):
		back, err = hit(ctx, n)
	case e := <-client:
		client <- e
		err = errTooLate
	}
	if err != nil {
		cancel()
	}
	e := <-client
	err = errors.Join(err, e.err)
	if err != nil {
		return o, 0, errors.Join(err, n.kill())
	}
	return e.childReport, back, n.stop()
}

// replace kills a node, starts it again, and returns the time until the node reported that it runs.
func (x *cluster) replace(ctx context.Context, what string, id topology.NodeID) (took time.Duration, err error) {
	at := slices.IndexFunc(x.nodes, func(m *nodeProcess) bool { return m.id == id })
	if at < 0 {
		return 0, fmt.Errorf("there is no node %s", id)
	}
	sub, err := x.listen()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, sub.Close()) }()
	old, err := x.beatOf(ctx, sub, id, 0)
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	if err := x.nodes[at].cmd.Process.Kill(); err != nil {
		return 0, err
	}
	_ = x.nodes[at].cmd.Wait() // the error only says that the process was killed
	x.nodes = slices.Delete(x.nodes, at, at+1)
	if err := x.start(what, id); err != nil {
		return 0, err
	}
	_, err = x.beatOf(ctx, sub, id, old+1)
	return time.Since(begin), err
}

// beatOf waits until a node reports that it runs in incarnation since or a later one, and returns that incarnation.
func (x *cluster) beatOf(ctx context.Context, sub *zmqx.Sub, id topology.NodeID, since uint64) (now uint64, err error) {
	err = x.beats(ctx, sub, func(b heartbeat.Beat) bool {
		now = uint64(b.ID.Incarnation)
		return b.Node == id && now >= since
	})
	if err != nil {
		return 0, fmt.Errorf("node %s does not run: %w", id, err)
	}
	return now, nil
}
