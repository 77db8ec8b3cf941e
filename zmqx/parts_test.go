package zmqx

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

func TestOptions_DefaultsAndChecks(t *testing.T) {
	o, err := Options{}.withDefaults(false)
	noError(t, err)
	if o.MaxFrame != 64*mib || o.MaxParts != 16 || o.WriteTimeout != 10*time.Second || o.BackoffMax != time.Second || o.MaxPeers != 1024 {
		t.Errorf("defaults are %+v", o)
	}
	if o, _ := (Options{}).withDefaults(true); o.WriteTimeout != 0 {
		t.Errorf("a PUSH waits %v for a PULL that does not read", o.WriteTimeout)
	}
	for want, bad := range map[string]Options{
		"MaxFrame is -1":       {MaxFrame: -1},
		"Linger":               {Linger: -1},
		"MaxMessage (10)":      {MaxFrame: 20, MaxMessage: 10},
		"BackoffMax (1ms)":     {BackoffMax: time.Millisecond},
		"HandshakeTimeout":     {HandshakeTimeout: -time.Second},
		"option MaxPeers":      {MaxPeers: -3},
		"option QueueMessages": {QueueMessages: -3},
	} {
		if _, err := NewPush(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v does not name %q", bad, err, want)
		}
	}
}

func TestParseEndpoint(t *testing.T) {
	for in, want := range map[string]endpoint{
		"tcp://127.0.0.1:5500": {"tcp", "127.0.0.1:5500"}, "tcp://*:1": {"tcp", ":1"}, "tcp://[::1]:0": {"tcp", "[::1]:0"},
		"tcp://joiner-1:5500": {"tcp", "joiner-1:5500"}, "ipc:///run/posta/a": {"unix", "/run/posta/a"},
	} {
		if got, err := parseEndpoint(in); err != nil || got != want {
			t.Errorf("%q: %+v, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "tcp://", "tcp://host", "tcp://host:http", "tcp://host:70000", "tcp://host:-1", "udp://h:1",
		"ipc://relative", "ipc://", "ipc://@abstract", "ipc:///" + strings.Repeat("x", 200), "ipc:///a\x00b", "127.0.0.1:5500"} {
		if _, err := parseEndpoint(in); !errors.Is(err, errEndpoint) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestBackoff_DoublesWithinBoundsAndStartsAgain(t *testing.T) {
	b := backoff{min: 10, max: 75}
	for i, want := range []time.Duration{10, 20, 40, 75, 75} {
		if got := b.pause(0); got != want {
			t.Errorf("pause %d is %d, want %d", i, got, want)
		}
	}
	if got := b.pause(0.999999); got < 37 || got > 38 {
		t.Errorf("the shortest pause is %d", got)
	}
	b.reset()
	if got := b.pause(0); got != 10 {
		t.Errorf("after a good handshake: %d", got)
	}
}

func TestIPC_StaleFileIsReplacedAndRemovedOnClose(t *testing.T) {
	address := ipcEndpoint(t)
	path := strings.TrimPrefix(address, "ipc://")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	noError(t, err)
	dead.SetUnlinkOnClose(false) // as after a kill
	dead.Close()
	pull, _ := newPull(t, Options{}, address)
	push := newPush(t, Options{}, address)
	noError(t, push.TrySend(text("x")))
	(&collector{from: pull}).expect(t, "x")
	noError(t, pull.Close())
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("after Close: %v", err)
	}
}

func TestIPC_LiveSocketAndOtherFilesAreLeftAlone(t *testing.T) {
	pull, address := newPull(t, Options{}, ipcEndpoint(t))
	second, err := NewPull(Options{})
	closing(t, second, err)
	if _, err := second.Listen(address); !errors.Is(err, errInUse) {
		t.Fatalf("a second listener: %v", err)
	}
	push := newPush(t, Options{}, address)
	noError(t, push.TrySend(text("still here")))
	(&collector{from: pull}).expect(t, "still here")

	file := ipcEndpoint(t)
	path := strings.TrimPrefix(file, "ipc://")
	noError(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := second.Listen(file); !errors.Is(err, errInUse) {
		t.Fatalf("listening on a file: %v", err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "precious" {
		t.Fatalf("the file is now %q, %v", b, err)
	}
}

func TestIPC_CloseLeavesASuccessorsFile(t *testing.T) {
	pull, address := newPull(t, Options{}, ipcEndpoint(t))
	path := strings.TrimPrefix(address, "ipc://")
	noError(t, os.Remove(path))
	successor, _ := newPull(t, Options{}, address)
	noError(t, pull.Close())
	push := newPush(t, Options{}, address)
	noError(t, push.TrySend(text("x")))
	(&collector{from: successor}).expect(t, "x")
}

func TestTCP_PortInUseIsAnError(t *testing.T) {
	_, address := newPull(t, Options{}, "tcp://127.0.0.1:0")
	second, err := NewPull(Options{})
	closing(t, second, err)
	if _, err := second.Listen(address); err == nil || !strings.Contains(err.Error(), address) {
		t.Fatalf("a second listener: %v", err)
	}
}

func TestSendQueue_CountsUntilReleased(t *testing.T) {
	q := newSendQueue(Options{QueueMessages: 2, QueueBytes: 100})
	noError(t, q.tryPut([]Message{text("a"), text("b")}))
	msgs, _ := q.take(nil)
	if len(msgs) != 2 {
		t.Fatalf("took %d", len(msgs))
	}
	if err := q.tryPut([]Message{text("c")}); !errors.Is(err, errFull) {
		t.Fatalf("taken messages left room: %v", err)
	}
	q.release(1, 1)
	noError(t, q.tryPut([]Message{text("c")}))
	if n := q.drop(); n != 2 {
		t.Fatalf("dropped %d, one taken and one waiting", n)
	}
	q.drained(context.Background(), nil)
}

func TestSendQueue_PutWaitsForRoomAndKeepsOrder(t *testing.T) {
	q := newSendQueue(Options{QueueMessages: 2, QueueBytes: 100})
	done := make(chan error, 1)
	go func() {
		for _, s := range []string{"1", "2", "3", "4", "5"} {
			if err := q.put(context.Background(), text(s)); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	var got string
	for len(got) < 5 {
		msgs, _ := q.take(nil)
		for _, m := range msgs {
			got += string(m[0])
			q.release(1, m.Size())
		}
	}
	if err := <-done; err != nil || got != "12345" {
		t.Fatalf("took %s, %v", got, err)
	}
}

func TestSendQueue_FirstGoesFirst(t *testing.T) {
	q := newSendQueue(Options{QueueMessages: 2, QueueBytes: 100})
	noError(t, q.tryPut([]Message{text("b"), text("c")}))
	q.putFirst([]Message{text("a")})
	msgs, _ := q.take(nil)
	if show(msgs[0]) != "a" || show(msgs[1]) != "b" || len(msgs) != 3 {
		t.Fatalf("took %v", msgs)
	}
	q.release(3, 3)
}

func TestBufferPool_GivesBackWhatFitsWithinItsBounds(t *testing.T) {
	var r bufferPool
	if r.get(directSize) != nil || (*bufferPool)(nil).get(directSize) != nil {
		t.Fatal("memory out of nothing")
	}
	batch := func(sizes ...int) []Received {
		var m Message
		for _, n := range sizes {
			m = append(m, make([]byte, n))
		}
		return []Received{{Msg: m}}
	}
	r.put(batch(100, 100_000, 40_000))
	if r.get(100) != nil || r.get(100_001) != nil || r.get(directSize) != nil {
		t.Fatal("memory that is too small or far too large")
	}
	if b := r.get(60_000); len(b) != 60_000 || cap(b) != 100_000 {
		t.Fatalf("%d of %d bytes", len(b), cap(b))
	}
	for range 200 {
		r.put(batch(20_000, 300_000))
		if len(r.free) > poolBuffers || r.bytes > poolBytes {
			t.Fatalf("%d buffers, %d bytes are kept", len(r.free), r.bytes)
		}
	}
	sum := 0
	for _, b := range r.free {
		sum += cap(b)
	}
	if sum != r.bytes {
		t.Fatalf("counted %d bytes, there are %d", r.bytes, sum)
	}
}

func TestBufferPool_SamePartTwiceIsABug(t *testing.T) {
	var r bufferPool
	batch := []Received{{Msg: Message{make([]byte, directSize)}}}
	r.put(batch)
	defer func() {
		if recover() == nil {
			t.Fatal("two receivers would have shared memory")
		}
	}()
	r.put(batch)
}

// TestNotifier_SlowListenerLosesNothing: events arrive in order, one at a time. None is lost, although the listener is slow and there are
// more than the queue holds.
func TestNotifier_SlowListenerLosesNothing(t *testing.T) {
	const n = 3 * maxEvents
	got := 0
	in := newNotifier(func(e Event) {
		if e.Endpoint != got {
			t.Errorf("event %d instead of %d", e.Endpoint, got)
		}
		if got%1000 == 0 {
			time.Sleep(time.Millisecond)
		}
		got++
	})
	for i := range n {
		in.notify(Event{Kind: Connected, Endpoint: i})
	}
	in.close()
	if got != n {
		t.Fatalf("%d of %d events were told", got, n)
	}
}

func TestEventKind_HasNames(t *testing.T) {
	for k, want := range map[EventKind]string{Connected: "connected", Disconnected: "disconnected", Unreachable: "unreachable", 0: "unknown"} {
		if k.String() != want {
			t.Errorf("%d is %q", int(k), k)
		}
	}
}
