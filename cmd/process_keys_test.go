package cmd

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/member"
	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// keysOf returns the keys that ProcessKeys gives a process with these arguments.
func keysOf(t *testing.T, top *topology.Topology, n topology.Node, args ...string) (keys *security.Keys, err error) {
	t.Helper()
	app := &cli.App{Flags: []cli.Flag{member.KeysFlag(), call.TopologyFlag(), member.LocalClientFlag()}, Action: func(c *cli.Context) error {
		keys, err = member.ProcessKeys(c, top, n, slog.New(slog.DiscardHandler))
		return nil
	}}
	if e := app.Run(append([]string{"posta", "-f", top.File}, args...)); e != nil {
		t.Fatal(e)
	}
	return keys, err
}

// TestS2_WhichKeysAProcessHas: a process gets its own keys, or none if no process has any.
func TestS2_WhichKeysAProcessHas(t *testing.T) {
	plain := func(text string) string { return text }
	top := loaded(t, plain, topology.Variant{Address: "127.0.0.1"})
	node, medic := top.Nodes()[0], top.MedicNodes()[0]
	if keys, err := keysOf(t, top, node); keys != nil || err != nil {
		t.Errorf("without any keys: %v %v", keys, err)
	}
	must(t, "key", "init", "-f", top.File)
	for _, n := range []topology.Node{node, medic} {
		own := filepath.Join(top.KeysDir, filepath.FromSlash(n.Identity().String()))
		for _, args := range [][]string{nil, {"--keys", own}} {
			if keys, err := keysOf(t, top, n, args...); err != nil || keys.Identity() != n.Identity() {
				t.Errorf("%s %v: %v %v", n.ID, args, keys, err)
			}
		}
	}
	others := filepath.Join(top.KeysDir, "medic", string(medic.ID))
	if _, err := keysOf(t, top, node, "--keys", others); exit.Code(err) != exit.Usage || !strings.Contains(err.Error(),
		"are those of medic/") {
		t.Errorf("the keys of another process: %v", err)
	}
	if _, err := keysOf(t, top, node, "--keys", filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a directory that is not there is accepted")
	}
	if err := os.RemoveAll(filepath.Join(top.KeysDir, "node", string(node.ID))); err != nil {
		t.Fatal(err)
	}
	if _, err := keysOf(t, top, node); exit.Code(err) != exit.Usage || !strings.Contains(err.Error(), "posta key init") {
		t.Errorf("the only process without keys: %v", err)
	}

	insecure := *top
	insecure.Security.Insecure = true
	if keys, err := keysOf(t, &insecure, medic); keys != nil || err != nil {
		t.Errorf("insecure: %v %v", keys, err)
	}
	if _, err := keysOf(t, &insecure, medic, "--keys", others); exit.Code(err) != exit.Usage {
		t.Errorf("insecure with keys: %v", err)
	}
	sockets := loaded(t, plain, topology.Variant{IPCDir: "/tmp/s"})
	must(t, "key", "init", "-f", sockets.File)
	if keys, err := keysOf(t, sockets, sockets.Nodes()[0]); keys != nil || err != nil {
		t.Errorf("unix sockets: %v %v", keys, err)
	}
}

// TestS6_SighupReadsTheKeysAgain: after SIGHUP, revocations take effect. A file that cannot be used changes nothing, and the log has an
// error.
func TestS6_SighupReadsTheKeysAgain(t *testing.T) {
	top := loaded(t, func(text string) string { return text }, topology.Variant{Address: "127.0.0.1"})
	must(t, "key", "init", "-f", top.File)
	n := top.Nodes()[0]
	keys, err := keysOf(t, top, n)
	if err != nil {
		t.Fatal(err)
	}
	reloaded := make(chan struct{}, 8)
	defer keys.OnReload(func() { reloaded <- struct{}{} })()
	var said await.Log
	defer member.ReloadKeys(member.Hangups(), keys, slog.New(slog.NewTextHandler(&said, nil)))()
	hangUp := func() {
		t.Helper()
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	hangUp()
	select {
	case <-reloaded:
	case <-time.After(time.Minute):
		t.Fatal("the keys were not read again")
	}
	revoked := filepath.Join(top.KeysDir, "node", string(n.ID), "revoked")
	if err := os.WriteFile(revoked, []byte("rubbish\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp()
	said.Line(t, "level=ERROR", "not everything could be read again")
	if len(reloaded) != 0 {
		t.Error("a bad file was taken")
	}
}

// TestS6_SighupReadsTheClientsAgain: after SIGHUP, a client with a new line below [clients] is admitted, a changed role takes effect, and a
// client whose line is gone is refused. A topology that cannot be read changes nothing.
func TestS6_SighupReadsTheClientsAgain(t *testing.T) {
	k := newTestKeys(t)
	k.write(strings.Replace(k.text, "# address = \"127.0.0.1\"", "address = \"127.0.0.1\"", 1))
	k.must("init")
	line := k.must("new", "alice", "--role", "submit").out
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := keysOf(t, top, top.Nodes()[0])
	if err != nil {
		t.Fatal(err)
	}
	c, err := security.ReadCertificate(filepath.Join(k.dir, "client", "alice"))
	if err != nil {
		t.Fatal(err)
	}
	socket := keys.Socket(security.ClientAPI, func(security.Identity) error { return nil })
	alice := tls.ConnectionState{Version: tls.VersionTLS13, NegotiatedProtocol: "posta/2/client", PeerCertificates: []*x509.Certificate{c}}
	var said await.Log
	defer member.ReloadKeys(member.Hangups(), keys, slog.New(slog.NewTextHandler(&said, nil)))()
	become := func(text, want string) {
		t.Helper()
		k.write(text)
		if err := syscall.Kill(os.Getpid(), syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		await.Until(t, "alice is "+want, func() bool {
			who, err := socket.Peer(alice)
			return who == want && (err == nil) == (want != "")
		})
	}
	without := k.text
	with := func(role string) string {
		return strings.Replace(without, "[clients]\n", "[clients]\n"+strings.Replace(line, "submit", role, 1), 1)
	}
	if _, err := socket.Peer(alice); !errors.Is(err, security.ErrNotAdmitted) {
		t.Errorf("before she has a line: %v", err)
	}
	become(with("submit"), "submit/alice")
	become(with("operate"), "operate/alice")
	become("[cluster", "operate/alice")
	said.Line(t, "level=ERROR", "read the clients again", "stay as they were")
	become(without, "")
}
