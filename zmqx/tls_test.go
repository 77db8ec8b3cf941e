package zmqx

import (
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
)

// keyring holds the keys of a cluster.
type keyring struct {
	ca   *security.CA
	root string
}

func newKeyring(t testing.TB) *keyring {
	t.Helper()
	return &keyring{ca: must[*security.CA](t)(security.NewCA("posta", time.Now())), root: t.TempDir()}
}

func (k *keyring) dir(name string) string { return filepath.Join(k.root, name) }

// node makes the keys of a node.
func (k *keyring) node(t testing.TB, name string) *security.Keys {
	t.Helper()
	return k.load(t, name, must[security.Pair](t)(k.ca.Issue(security.Identity{Role: security.Node, Name: name}, time.Now())), nil)
}

func (k *keyring) load(t testing.TB, name string, p security.Pair, clients security.Clients) *security.Keys {
	t.Helper()
	noError(t, security.WritePair(k.dir(name), p))
	noError(t, security.WriteCAs(k.dir(name), k.ca.Certificate()))
	return must[*security.Keys](t)(security.Load(k.dir(name), "posta", clients))
}

// onlyNodes is the admit function of sockets at which nodes meet.
func onlyNodes(id security.Identity) error {
	if id.Role != security.Node {
		return errors.New("only nodes are wanted")
	}
	return nil
}

// keyedPull listens as node/receiver-1, and keyedPush dials it as node/sender-1.
func keyedPull(t testing.TB, k *keyring, o Options, endpoint string) (*Pull, string) {
	t.Helper()
	o.TLS = k.node(t, "receiver-1").Socket(security.Data, onlyNodes)
	return newPull(t, o, endpoint)
}

func keyedPush(t testing.TB, k *keyring, o Options, address string) *Push {
	t.Helper()
	o.TLS = k.node(t, "sender-1").Socket(security.Data, onlyNodes)
	p, err := NewPush(o)
	closing(t, p, err)
	noError(t, p.ConnectTo(address, "node/receiver-1"))
	return p
}

// TestS3_PeersKnowWhoTheyTalkTo: messages and events of each kind of socket have the name that the peer has proven.
func TestS3_PeersKnowWhoTheyTalkTo(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		k := newKeyring(t)
		told, toldPush := newEvents(), newEvents()
		pull, address := keyedPull(t, k, Options{OnEvent: told.take}, endpoint)
		push := keyedPush(t, k, Options{OnEvent: toldPush.take}, address)
		noError(t, push.TrySend(text("hello", "there")))
		c := &collector{from: pull}
		if r := c.expect(t, "hello|there"); r.From != "node/sender-1" {
			t.Errorf("the message is from %q", r.From)
		}
		for _, e := range []Event{told.await(t, Connected), toldPush.await(t, Connected)} {
			if e.From != "node/sender-1" && e.From != "node/receiver-1" {
				t.Errorf("%+v", e)
			}
		}
		noError(t, push.Close())
		if e := told.await(t, Disconnected); e.From != "node/sender-1" {
			t.Errorf("%+v", e)
		}
	})
}

func TestS3_PublishersAndRouters(t *testing.T) {
	k := newKeyring(t)
	node := k.node(t, "input-1")
	alice := must[security.Pair](t)(security.NewClient("posta", "alice", time.Now()))
	gateway := k.load(t, "gateway-1", must[security.Pair](t)(k.ca.Issue(security.Identity{Role: security.Node, Name: "gateway-1"},
		time.Now())),
		security.Clients{alice.Key.Fingerprint(): {Role: security.Watch, Name: "alice"}})

	pub, address := newPub(t, Options{TLS: node.Socket(security.Control, anyone)}, "tcp://127.0.0.1:0")
	sub := newSub(t, Options{TLS: gateway.Socket(security.Control, anyone)})
	must[int](t)(sub.ConnectTo(address, "node/input-1"))
	noError(t, sub.Subscribe("beat"))
	c := &collector{from: sub}
	await.Until(t, "the subscription arrives", func() bool {
		noError(t, pub.Send(text("beat")))
		select {
		case c.rest = <-sub.C():
			return true
		default:
			return false
		}
	})
	if r := c.expect(t, "beat"); r.From != "node/input-1" {
		t.Errorf("the heartbeat is from %q", r.From)
	}

	router, address := newRouter(t, Options{TLS: gateway.Socket(security.ClientAPI, anyone)}, "tcp://127.0.0.1:0")
	req, err := NewReq(Options{TLS: k.load(t, "alice", alice, nil).Socket(security.ClientAPI, anyone)})
	closing(t, req, err)
	noError(t, req.ConnectTo(address, "node/gateway-1"))
	var asked Received
	done := make(chan struct{})
	go func() {
		defer close(done)
		asked = (&collector{from: router}).next(t)
		if err := router.Send(asked.Peer, text("", "yes")); err != nil {
			t.Error(err)
		}
	}()
	if m, err := req.Do(testContext(t), text("may I?")); err != nil || show(m) != "yes" {
		t.Errorf("%v, %v", m, err)
	}
	<-done
	if asked.From != "watch/alice" {
		t.Errorf("the question is from %q", asked.From)
	}
}

// TestS3_WithKeysADiallerNamesItsPeer: an address alone does not show which process answers there.
func TestS3_WithKeysADiallerNamesItsPeer(t *testing.T) {
	k := newKeyring(t)
	o := Options{TLS: k.node(t, "sender-1").Socket(security.Data, anyone)}
	push, err := NewPush(o)
	closing(t, push, err)
	for _, name := range []string{"", "receiver-1", "node/", "node/*", "stage/receiver-1"} {
		if err := push.ConnectTo("tcp://127.0.0.1:1", name); err == nil {
			t.Errorf("%q was dialled", name)
		}
	}
	if err := push.Connect("tcp://127.0.0.1:1"); err == nil {
		t.Error("nobody in particular was dialled")
	}
}

// TestTLS_MessagesOfAllSizes: messages come out of TLS as they went in, for all sizes of parts, records and buffers.
func TestTLS_MessagesOfAllSizes(t *testing.T) {
	onBoth(t, func(t *testing.T, endpoint string) {
		k := newKeyring(t)
		pull, address := keyedPull(t, k, Options{}, endpoint)
		push := keyedPush(t, k, Options{}, address)
		const seed = 7
		sizes := []int{0, 1, 255, 256, 1000, directSize - 1, directSize, maxRecord - 9, maxRecord, maxRecord + 1, 2 * maxRecord, maxWireBuffer,
			100_000, 1 << 20, 3<<20 + 17}
		random := func(r *rand.Rand) Message {
			m := make(Message, 1+r.IntN(5))
			for i := range m {
				m[i] = make([]byte, sizes[min(r.IntN(len(sizes)), r.IntN(len(sizes)))])
				for j := 0; j < len(m[i]); j += 1 + j/64 {
					m[i][j] = byte(r.Uint32())
				}
			}
			return m
		}
		const n = 400
		var wg sync.WaitGroup
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(seed, 1))
			for range n {
				if err := push.send(testContext(t), random(r)); err != nil {
					t.Error(err)
				}
			}
		}()
		c, r := &collector{from: pull}, rand.New(rand.NewPCG(seed, 1))
		for i := range n {
			want, got := random(r), c.next(t).Msg
			if len(got) != len(want) {
				t.Fatalf("message %d has %d parts, %d were sent", i, len(got), len(want))
			}
			for j := range want {
				if string(got[j]) != string(want[j]) {
					t.Fatalf("part %d of message %d is another one", j, i)
				}
			}
		}
		wg.Wait()
		if n := push.connects(); n != 1 {
			t.Errorf("%d connections", n)
		}
	})
}

// TestS6_RecheckEndsRevokedPeers: when a key is revoked, its connections end and it gets no new ones. Other connections stay.
func TestS6_RecheckEndsRevokedPeers(t *testing.T) {
	k := newKeyring(t)
	told := newEvents()
	receiver := k.node(t, "receiver-1")
	pull, address := newPull(t, Options{TLS: receiver.Socket(security.Data, onlyNodes), OnEvent: told.take}, "tcp://127.0.0.1:0")
	dial := func(name string, o Options) *Push {
		o.TLS = k.node(t, name).Socket(security.Data, anyone)
		p, err := NewPush(o)
		closing(t, p, err)
		noError(t, p.ConnectTo(address, "node/receiver-1"))
		return p
	}
	lost := newEvents()
	good, bad := dial("good-1", Options{}), dial("bad-1", Options{OnEvent: lost.take})
	c := &collector{from: pull}
	noError(t, bad.TrySend(text("bad")))
	c.expect(t, "bad")
	noError(t, good.TrySend(text("good")))
	c.expect(t, "good")
	pull.Recheck() // nothing has changed
	noError(t, bad.TrySend(text("still there")))
	c.expect(t, "still there")

	pair := must[security.Pair](t)(security.ReadPair(k.dir("bad-1")))
	noError(t, security.Revoke(k.dir("receiver-1"), pair.Key.Fingerprint(), "bad-1"))
	noError(t, receiver.Reload())
	pull.Recheck()
	if e := told.await(t, Disconnected); e.From != "node/bad-1" || !errors.Is(e.Err, ErrRefused) || !errors.Is(e.Err, security.ErrRevoked) {
		t.Errorf("%+v", e)
	}
	if e := lost.await(t, Unreachable); e.Err == nil {
		t.Error("the revoked one does not hear why it is alone")
	}
	noError(t, good.TrySend(text("good again")))
	c.expect(t, "good again")
	if n := good.connects(); n != 1 {
		t.Errorf("the good one came %d times", n)
	}
	if n := pull.connects(); n != 2 {
		t.Errorf("%d peers were admitted", n)
	}
}

// TestS6_AHandshakeThatARecheckOvertakes: a peer whose key is revoked between its handshake and its admission is not admitted.
func TestS6_AHandshakeThatARecheckOvertakes(t *testing.T) {
	k := newKeyring(t)
	receiver := k.node(t, "receiver-1")
	var pull *Pull
	told := newEvents()
	late := &overtaking{TLS: receiver.Socket(security.Data, anyone)}
	late.meanwhile = func() { // after the peer has proven its identity, and before it is admitted
		pair := must[security.Pair](t)(security.ReadPair(k.dir("sender-1")))
		noError(t, security.Revoke(k.dir("receiver-1"), pair.Key.Fingerprint(), "sender-1"))
		noError(t, receiver.Reload())
		pull.Recheck()
	}
	pull, address := newPull(t, Options{TLS: late}, "tcp://127.0.0.1:0")
	keyedPush(t, k, Options{OnEvent: told.take}, address)
	told.await(t, Unreachable)
	if n := pull.connects(); n != 0 {
		t.Errorf("%d peers were admitted", n)
	}
}

// overtaking calls meanwhile once, when the first peer has proven its identity.
type overtaking struct {
	TLS
	once      sync.Once
	meanwhile func()
}

func (o *overtaking) Peer(s tls.ConnectionState) (string, error) {
	name, err := o.TLS.Peer(s)
	o.once.Do(o.meanwhile)
	return name, err
}

// TestS5_APeerWhoseRoleChangedConnectsAgain: the name and role in a peer's messages decide what it may do, so they must not be outdated.
func TestS5_APeerWhoseRoleChangedConnectsAgain(t *testing.T) {
	k, told := newKeyring(t), newEvents()
	now := &renaming{TLS: k.node(t, "receiver-1").Socket(security.Data, anyone)}
	now.name.Store("submit/alice")
	pull, address := newPull(t, Options{TLS: now, OnEvent: told.take}, "tcp://127.0.0.1:0")
	push := keyedPush(t, k, Options{}, address)
	told.await(t, Connected)
	now.name.Store("operate/alice")
	pull.Recheck()
	if e := told.await(t, Disconnected); e.From != "submit/alice" || !errors.Is(e.Err, ErrRefused) {
		t.Errorf("%+v", e)
	}
	if e := told.await(t, Connected); e.From != "operate/alice" {
		t.Errorf("%+v", e)
	}

	now.name.Store("") // a peer that is not admitted any more does not come back
	pull.Recheck()
	told.await(t, Disconnected)
	attempts := now.refused.Load()
	await.Until(t, "it tries again", func() bool { return now.refused.Load() > attempts+2 })
	if n := pull.connects(); n != 2 {
		t.Errorf("%d were admitted", n)
	}
	noError(t, push.Close())
}

// renaming gives peers other names once their handshakes are complete; with an empty name it refuses them.
type renaming struct {
	TLS
	name    atomic.Value
	refused atomic.Int64
}

func (r *renaming) Peer(tls.ConnectionState) (string, error) {
	name := r.name.Load().(string)
	if name == "" {
		r.refused.Add(1)
		return "", errors.New("nobody may be here")
	}
	return name, nil
}
