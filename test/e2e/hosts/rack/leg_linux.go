package rack

import (
	"fmt"
	"time"
)

// Impairment is what happens to each frame, in each direction.
type Impairment struct {
	Delay time.Duration
	Loss  float64 // 0.01 is one in a hundred
}

// leg joins a namespace with the switch: "eth0" inside, and a port of the switch's bridge that is named like the host.
type leg interface {
	set(up bool) error
	impair(Impairment) error
	close() error
}

// cable is a veth pair.
type cable struct{ ns, hub, port string }

func newCable(ns, hub, port string) (*cable, error) {
	if err := run("ip", "link", "add", device, "netns", ns, "type", "veth", "peer", "name", port, "netns", hub); err != nil {
		return nil, err
	}
	return &cable{ns, hub, port}, nil
}

func (c *cable) set(up bool) error {
	state := "down"
	if up {
		state = "up"
	}
	return run("ip", "-n", c.hub, "link", "set", "dev", c.port, state)
}

// impair puts netem on both ends, because it acts on what leaves.
func (c *cable) impair(i Impairment) error {
	for _, end := range [][2]string{{c.ns, device}, {c.hub, c.port}} {
		if i == (Impairment{}) {
			_ = run("tc", "-n", end[0], "qdisc", "del", "dev", end[1], "root") // there may be none
			continue
		}
		err := run("tc", "-n", end[0], "qdisc", "replace", "dev", end[1], "root", "netem", "limit", fmt.Sprint(queued),
			"delay", fmt.Sprintf("%dus", i.Delay.Microseconds()), "loss", fmt.Sprintf("%g%%", 100*i.Loss))
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *cable) close() error { return nil } // it goes with its namespaces

// queued is how many frames are under way at most; more are lost.
const queued = 100_000

// hasNetem asks the kernel, on a device that carries nothing.
func hasNetem(ns string) bool {
	if run("tc", "-n", ns, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms") != nil {
		return false
	}
	_ = run("tc", "-n", ns, "qdisc", "del", "dev", "lo", "root")
	return true
}
