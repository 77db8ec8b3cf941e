package rack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

const (
	prefix = "posta-hosts-" // of all namespaces, directories and cgroups
	device = "eth0"         // a namespace's end of its leg
	bridge = "ports"        // the switch's
)

// Options say what a rack is for.
type Options struct {
	Impaired bool // legs are going to be impaired
	Systemd  bool // hosts have systemd, and no engine
}

// Rack is some hosts, a switch between them, and the operator, who is the test.
type Rack struct {
	Hosts []*Host

	t         *testing.T
	name, hub string
	dir       string
	subnet    string
	operator  leg
	wires     bool
}

var racks atomic.Int64

// New makes hosts "a", "b", … with an engine or a systemd each. They end with the test. Of two racks at a time, only one may be there.
func New(t *testing.T, n int, o Options) *Rack {
	t.Helper()
	number := racks.Add(1)
	r := &Rack{t: t, name: fmt.Sprintf("%s%d-%d", prefix, os.Getpid(), number), subnet: fmt.Sprintf("10.213.%d.", number%250)}
	r.hub = r.name + "-switch"
	t.Cleanup(func() {
		if err := r.close(); err != nil {
			t.Errorf("clear up after rack %s: %v", r.name, err)
		}
	})
	if err := r.build(n, o); err != nil {
		t.Fatalf("make hosts: %v", err)
	}
	for _, h := range r.Hosts {
		if err := h.startInit(); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Operator is the address of the test.
func (r *Rack) Operator() string { return r.subnet + "1" }

func (r *Rack) build(n int, o Options) (err error) {
	// The engines' disks are on the machine's own: nothing of a container works over a file system in memory that has no attributes.
	if r.dir, err = os.MkdirTemp(base, r.name+"-"); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"ip", "netns", "add", r.hub},
		{"ip", "-n", r.hub, "link", "add", bridge, "type", "bridge", "forward_delay", "0"},
		{"ip", "-n", r.hub, "link", "set", bridge, "up"},
	} {
		if err := run(args...); err != nil {
			return err
		}
	}
	r.wires = o.Impaired && !hasNetem(r.hub)
	if r.operator, err = r.join(os.Getenv(insideVar), "operator", r.Operator()); err != nil {
		return err
	}
	for i := range n {
		h := &Host{Name: string(rune('a' + i)), Address: fmt.Sprint(r.subnet, i+2), systemd: o.Systemd}
		h.ns, h.dir = r.name+"-"+h.Name, filepath.Join(r.dir, h.Name)
		h.Socket = filepath.Join(h.dir, "docker.sock")
		if err := os.Mkdir(h.dir, 0o755); err != nil {
			return err
		}
		if err := run("ip", "netns", "add", h.ns); err != nil {
			return err
		}
		r.Hosts = append(r.Hosts, h)
		if h.leg, err = r.join(h.ns, h.Name, h.Address); err != nil {
			return err
		}
	}
	return nil
}

// base is where hosts have their disks. Sockets are there as well, so the path is short.
const base = "/tmp"

// join gives a namespace its leg and its address.
func (r *Rack) join(ns, port, address string) (leg, error) {
	l, err := r.leg(ns, port)
	if err != nil {
		return nil, err
	}
	for _, args := range [][]string{
		{"ip", "-n", r.hub, "link", "set", "dev", port, "master", bridge, "up"},
		{"ip", "-n", ns, "address", "add", address + "/24", "dev", device},
		{"ip", "-n", ns, "link", "set", "dev", device, "up"},
		{"ip", "-n", ns, "link", "set", "lo", "up"},
	} {
		if err := run(args...); err != nil {
			return l, err
		}
	}
	return l, nil
}

func (r *Rack) leg(ns, port string) (leg, error) {
	if r.wires && port != "operator" {
		return newWire(ns, r.hub, port)
	}
	return newCable(ns, r.hub, port)
}

// Cut parts the hosts from each other, and none of them from the operator. Heal ends that.
func (r *Rack) Cut() error { return r.isolate("on") }

// Heal is the end of Cut.
func (r *Rack) Heal() error { return r.isolate("off") }

// isolate uses what bridges have for it: isolated ports reach those only that are not.
func (r *Rack) isolate(state string) error {
	for _, h := range r.Hosts {
		if err := run("bridge", "-n", r.hub, "link", "set", "dev", h.Name, "isolated", state); err != nil {
			return err
		}
	}
	return nil
}

func (r *Rack) close() error {
	var errs []error
	for _, h := range r.Hosts {
		if r.t.Failed() && h.init != nil {
			r.t.Logf("host %s:\n%s", h.Name, h.lastWords())
		}
		errs = append(errs, h.Kill())
		if h.leg != nil {
			errs = append(errs, h.leg.close())
		}
		errs = append(errs, h.remove())
	}
	if r.operator != nil {
		errs = append(errs, r.operator.close(), run("ip", "link", "del", device))
	}
	if _, err := os.Stat(netnsFile(r.hub)); err == nil {
		errs = append(errs, run("ip", "netns", "del", r.hub))
	}
	if r.dir != "" {
		errs = append(errs, os.RemoveAll(r.dir))
	}
	return errors.Join(errs...)
}
