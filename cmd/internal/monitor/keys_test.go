package monitor

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/topology"
	"posta.dev/posta/zmqx"
)

// TestS3_ListenersUseKeys: a client that may watch hears heartbeats over mutual TLS. Another client learns which node
// refuses it. A client also learns if another node answers than the one that it dialled. A node is named if its
// certificate ends within 30 days (S6), and not earlier.
func TestS3_ListenersUseKeys(t *testing.T) {
	root := t.TempDir()
	ca, err := security.NewCA("posta", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	clients := security.Clients{}
	load := func(name string, p security.Pair, err error) *security.Keys {
		t.Helper()
		dir := filepath.Join(root, name)
		for _, err := range []error{err, security.WritePair(dir, p), security.WriteCAs(dir, ca.Certificate())} {
			if err != nil {
				t.Fatal(err)
			}
		}
		keys, err := security.Load(dir, "posta", clients)
		if err != nil {
			t.Fatal(err)
		}
		return keys
	}
	client := func(name string, role security.Role) *security.Keys {
		t.Helper()
		p, err := security.NewClient("posta", name, time.Now())
		clients[p.Key.Fingerprint()] = security.Identity{Role: role, Name: name}
		return load(name, p, err)
	}
	watcher, submitter := client("watcher", security.Watch), client("submitter", security.Submit)
	ends := time.Now().Add(29 * 24 * time.Hour)
	pair, err := ca.Issue(security.Identity{Role: security.Node, Name: "a-1"}, ends.Add(-security.CertificateLife))
	own := load("a-1", pair, err)
	pub, err := zmqx.NewPub(zmqx.Options{TLS: own.Socket(security.Control, func(id security.Identity) error {
		if id.Role != security.Watch {
			return errors.New("it may not watch")
		}
		return nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = pub.Close() }()
	at, err := pub.Listen("tcp://127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	good := beat("a-1", 7, 1)
	for name, c := range map[string]struct {
		keys *security.Keys
		node topology.NodeID
		want string // of the refusal; "": the client hears heartbeats
	}{
		"one that may watch":     {watcher, "a-1", ""},
		"one that may not watch": {submitter, "a-1", "a-1: "},
		"another node":           {watcher, "a-2", "node/a-2 was dialled and node/a-1 answered"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := ListenToNodes([]topology.Node{{ID: c.node, Sockets: topology.Sockets{Control: topology.Endpoint{Dial: at, Bind: at}}}}, c.keys)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = l.Close() }()
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			view, err := l.Until(ctx, func(view []Status) (bool, error) {
				if err := pub.Send(zmqx.Message{[]byte("H"), good.Append(nil)}); err != nil {
					return false, err
				}
				return view[0].Heard || l.Refused() != nil, nil
			})
			refused := l.Refused()
			if err != nil || view[0].Heard != (c.want == "") || (refused != nil) != (c.want != "") {
				t.Fatalf("heard: %v; refused: %v; %v", view[0].Heard, refused, err)
			}
			names, first := l.Expiring(time.Now())
			if early, _ := l.Expiring(ends.Add(-security.ExpiryWarning - time.Minute)); len(early) > 0 ||
				(c.node == "a-1") != slices.Equal(names, []string{"node/a-1"}) || c.node == "a-1" && first.Sub(ends).Abs() > time.Minute {
				t.Errorf("the certificates of %v end, the first one on %v, and %v before that", names, first, early)
			}
			if end, known := l.Ends(security.Identity{Role: security.Node, Name: "a-1"}); c.node == "a-1" &&
				(!known || end.Sub(ends).Abs() > time.Minute) {
				t.Errorf("the certificate of a-1 ends on %v, %v", end, known)
			}
			if refused != nil && !strings.Contains(refused.Error(), c.want) {
				t.Errorf("refused with %v", refused)
			}
		})
	}
}
