//go:build docker && linux

package hosts

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/test/e2e/hosts/rack"
)

// TestRack shows that hosts are what they are said to be, before anything is built upon it.
func TestRack(t *testing.T) {
	r := rack.New(t, 2, rack.Options{})
	a, b := r.Hosts[0], r.Hosts[1]
	image(t, a, "posta", "1")
	must(t, b.Load(a, "posta"))
	ids := map[string]bool{}
	for _, h := range r.Hosts {
		out := docker(t, h, "run", "--rm", "posta", "topology", "new")
		if !strings.Contains(out, "[cluster]") {
			t.Fatalf("host %s: the program says %q", h.Name, out)
		}
		ids[docker(t, h, "info", "-f", "{{.ID}}")] = true
	}
	if len(ids) != 2 {
		t.Errorf("engines are called %v, and should be two", ids)
	}
	theyDieAtOnce(t, a)
	theyAreParted(t, r)
}

// theyDieAtOnce pulls the plug of a host on which something runs, and finds its disk again.
func theyDieAtOnce(t *testing.T, h *rack.Host) {
	for name, policy := range map[string]string{"comes-back": "unless-stopped", "stays-down": "no"} {
		docker(t, h, "run", "-d", "--name", name, "--restart", policy, "--network", "host", "-v", "/run/docker.sock:/run/docker.sock", "posta",
			"log", "verify", "--help")
	}
	docker(t, h, "volume", "create", "kept")
	must(t, h.Kill())
	if _, err := h.Docker("ps"); err == nil {
		t.Error("the engine of a dead host answers")
	}
	must(t, h.Start())
	if out := docker(t, h, "volume", "ls", "-q"); out != "kept" {
		t.Errorf("after its death the host has the volumes %q", out)
	}
	if out := docker(t, h, "ps", "-aq"); len(strings.Fields(out)) != 2 {
		t.Errorf("after its death the host has the containers %q", out)
	}
}

func theyAreParted(t *testing.T, r *rack.Rack) {
	a, b := r.Hosts[0], r.Hosts[1]
	e := echo(t, b)
	among, own := e.from(t, a), e.from(t, nil)
	both := func(what string, amongWant, ownWant bool) {
		t.Helper()
		if got := among.answers(patience(amongWant)); got != amongWant {
			t.Errorf("%s: from host to host %v", what, got)
		}
		if got := own.answers(patience(ownWant)); got != ownWant {
			t.Errorf("%s: from the operator to a host %v", what, got)
		}
	}
	both("at first", true, true)
	must(t, r.Cut())
	both("cut", false, true)
	must(t, r.Heal())
	both("healed", true, true)
	must(t, b.Unplug())
	both("unplugged", false, false)
	must(t, b.Plug())
	both("plugged in", true, true)
}

// TestImpaired shows that frames are late and lost as they should be. Neither is a matter of how busy the machine is.
func TestImpaired(t *testing.T) {
	r := rack.New(t, 1, rack.Options{Impaired: true})
	h := r.Hosts[0]
	c := echo(t, h).from(t, nil)
	if !c.answers(patience(true)) {
		t.Fatal("no answer over a leg that is whole")
	}
	must(t, h.Impair(rack.Impairment{Delay: 30 * time.Millisecond}))
	began := time.Now()
	if !c.answers(patience(true)) || time.Since(began) < 60*time.Millisecond {
		t.Errorf("there and back within %v, and each takes 30ms", time.Since(began))
	}
	if lost := losses(t, r, h); lost != 0 {
		t.Errorf("%d of 1000 are lost, and none should be", lost)
	}
	must(t, h.Impair(rack.Impairment{Loss: 0.2}))
	if lost := losses(t, r, h); lost < 120 || lost > 280 { // six times the deviation
		t.Errorf("%d of 1000 are lost, and about 200 should be", lost)
	}
}

// losses returns how many of a thousand datagrams do not arrive at the host.
func losses(t *testing.T, r *rack.Rack, h *rack.Host) (lost int) {
	t.Helper()
	var in net.PacketConn
	must(t, h.Do(func() (err error) { in, err = net.ListenPacket("udp4", h.Address+":0"); return err }))
	defer func() { _ = in.Close() }()
	out, err := net.Dial("udp4", in.LocalAddr().String())
	must(t, err)
	defer func() { _ = out.Close() }()
	lost = 1000
	buf := make([]byte, 100)
	for i := range 1000 {
		_, err := out.Write([]byte("x"))
		must(t, err)
		if i%50 == 49 { // no more are under way than fit into a socket
			silence := 150 * time.Millisecond
			if i == 999 { // what the machine was too slow to bring before is no loss
				silence = 5 * time.Second
			}
			for lost > 0 {
				must(t, in.SetReadDeadline(time.Now().Add(silence)))
				if _, _, err := in.ReadFrom(buf); errors.Is(err, os.ErrDeadlineExceeded) {
					break
				}
				lost--
			}
		}
	}
	return lost
}

// echoes says everything again that it hears, on a host.
type echoes struct{ address string }

func echo(t *testing.T, h *rack.Host) echoes {
	t.Helper()
	var l net.Listener
	must(t, h.Do(func() (err error) { l, err = net.Listen("tcp4", h.Address+":0"); return err }))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer func() { _ = c.Close() }()
			go func() {
				buf := make([]byte, 100)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					_, _ = c.Write(buf[:n])
				}
			}()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return echoes{l.Addr().String()}
}

// caller has one connection, which lives through whatever happens to the network.
type caller struct {
	c net.Conn
	n int
}

// from dials from a host, or as the operator.
func (e echoes) from(t *testing.T, h *rack.Host) *caller {
	t.Helper()
	k := &caller{}
	dial := func() (err error) { k.c, err = net.DialTimeout("tcp4", e.address, 10*time.Second); return err }
	if h == nil {
		must(t, dial())
	} else {
		must(t, h.Do(dial))
	}
	t.Cleanup(func() { _ = k.c.Close() })
	return k
}

// patience returns how long to wait for an answer. After a network was parted for 3 or 6 seconds, TCP sends again only after a pause as
// long as that.
func patience(wanted bool) time.Duration {
	if wanted {
		return time.Minute
	}
	return 3 * time.Second
}

// answers says something new and waits for it. What was said while nobody answered arrives first once the network is whole.
func (k *caller) answers(within time.Duration) bool {
	k.n++
	word := fmt.Sprintf("<%d>", k.n)
	if _, err := k.c.Write([]byte(word)); err != nil {
		return false
	}
	heard, buf := "", make([]byte, 100)
	for end := time.Now().Add(within); ; {
		_ = k.c.SetReadDeadline(end)
		n, err := k.c.Read(buf)
		if heard += string(buf[:n]); strings.Contains(heard, word) {
			return true
		}
		if err != nil {
			return false
		}
	}
}

func docker(t *testing.T, h *rack.Host, args ...string) string {
	t.Helper()
	out, err := h.Docker(args...)
	must(t, err)
	return out
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
