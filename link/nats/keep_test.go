package nats

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/link"
	"posta.dev/posta/topology"
)

// TestKeep_AServerThatGreetsAndHangsUpIsNotThereAgain: if each greeting ended the outage and its pauses, the client would dial the server
// fifty times a second.
func TestKeep_AServerThatGreetsAndHangsUpIsNotThereAgain(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var greeted atomic.Int64
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			greet(c)
			greeted.Add(1)
		}
	}()
	defer func() { _ = l.Close(); wg.Wait() }()
	topo := topology.Default()
	topo.Transport, topo.Hosts[0].Address = topology.ViaNATS, "ipc:"+t.TempDir()
	topo.Hosts[0].Bind, topo.NATS.URL = topo.Hosts[0].Address, "nats://"+l.Addr().String()
	n, err := topo.Node("joiner-1")
	if err != nil {
		t.Fatal(err)
	}
	said := make(lines, 1024)
	tr, err := New(link.TransportConfig{Topology: topo, Node: n, Log: slog.New(slog.NewTextHandler(said, nil))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end) || greeted.Load() < 4 && time.Now().Before(end.Add(away)); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := tr.Close(); err != nil {
		t.Error(err)
	}
	// Both connections pause 20, 40, 80 … ms, at most 1 s: seven or eight greetings each. With pauses of 20 ms there would be about a
	// hundred.
	if n := greeted.Load(); n < 4 || n > 30 {
		t.Errorf("it was greeted %d times", n)
	}
	close(said)
	all := ""
	for line := range said {
		all += line
	}
	for _, what := range []string{", in: nothing is lost", ", out: nothing is lost"} {
		if strings.Count(all, what) != 1 {
			t.Errorf("%q is said %d times:\n%s", what, strings.Count(all, what), all)
		}
	}
	if strings.Contains(all, "is there again") {
		t.Errorf("it is said to be there again:\n%s", all)
	}
}

// greet sends the beginning of NATS' protocol and closes the connection.
func greet(c net.Conn) {
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(time.Second))
	_, _ = fmt.Fprint(c, `INFO {"server_id":"x","version":"2.12.0","proto":1,"headers":true,"max_payload":67108864}`+"\r\n")
	for r := bufio.NewReader(c); ; {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		if strings.HasPrefix(line, "PING") {
			_, _ = fmt.Fprint(c, "PONG\r\n")
			return
		}
	}
}
