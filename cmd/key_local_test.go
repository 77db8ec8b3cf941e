package cmd

import (
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/deploy"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/protocol"
	"posta.dev/posta/security"
	"posta.dev/posta/test/await"
	"posta.dev/posta/test/temp"
	"posta.dev/posta/topology"
)

// TestS1_ARunOverTCPMakesItsKeys: nodes on ports of loopback get keys unasked. The answer is the same as over unix
// sockets, and the keys are for this user alone.
func TestS1_ARunOverTCPMakesItsKeys(t *testing.T) {
	bikes, dir := data(t, "1000"), filepath.Join(t.TempDir(), "run")
	answer := func(args ...string) (a struct{ Queries map[string]any }) {
		t.Helper()
		r := must(t, append([]string{"run", "bikes", "--data", bikes, "--json"}, args...)...)
		if err := json.Unmarshal([]byte(r.out), &a); err != nil || len(a.Queries) == 0 {
			t.Fatalf("%d queries, %v", len(a.Queries), err)
		}
		return a
	}
	plain := answer()
	if keyed := answer("--sockets", "tcp", "--dir", dir); !reflect.DeepEqual(keyed, plain) {
		t.Errorf("over TCP the answer is\n%v\nand over unix sockets\n%v", keyed, plain)
	}
	for name, want := range map[string]os.FileMode{"keys": os.ModeDir | 0o700, "keys/node/aggregator-1": os.ModeDir | 0o700,
		"keys/node/aggregator-1/key.pem": 0o600, "keys/client/local/key.pem": 0o600} {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := security.Load(filepath.Join(dir, "keys", "node", "aggregator-1"), "run", nil); err == nil ||
		strings.Contains(err.Error(), "no such") {
		t.Errorf("aggregator-1's keys are for any cluster: %v", err)
	}
	file := filepath.Join(t.TempDir(), "t.toml")
	text, err := topology.Generate(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40),
		Settings: map[string]string{"medics.replicas": "0"}})
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if given := answer("-f", file, "--dir", dir+"2"); !reflect.DeepEqual(given, plain) {
		t.Error("with a topology that names TCP it answers otherwise")
	}
	if _, err := os.Lstat(filepath.Join(dir+"2", "keys", "node", "aggregator-1", "key.pem")); err != nil {
		t.Errorf("with a topology that names TCP: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(filepath.Dir(file), "keys")); err == nil {
		t.Error("a run leaves keys beside the topology that it was given")
	}
	if again := answer("--sockets", "tcp", "--dir", dir); !reflect.DeepEqual(again, plain) {
		t.Error("in a directory that was used before it answers otherwise")
	}
}

// TestS1_UpOverTCPMakesItsKeys: posta up makes keys unasked for a cluster on ports of loopback. The commands of its
// user work without flags, and clients without a key get no answer. A second posta up makes only keys that were lost.
func TestS1_UpOverTCPMakesItsKeys(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40),
		Settings: map[string]string{"limits.drain": "0s", "medics.replicas": "1"}})
	bikes := data(t, "1000")
	if r := must(t, "up", "-f", k.file); !strings.Contains(r.err, "made 9 keys in "+filepath.Join(k.dir, "keys")) {
		t.Errorf("posta up says %s", r.err)
	}
	must(t, "submit", "bikes", "--data", bikes, "-f", k.file)
	must(t, "sessions", "-f", k.file)
	k.shows("nobody as silent", func(out string) bool { return !strings.Contains(out, "silent") })
	if r := must(t, "key", "list", "-f", k.file); !strings.Contains(r.out, "operate  local") ||
		strings.Contains(r.out, "not in the topology") {
		t.Errorf("posta key list: %s", r.out)
	}
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	at := top.Holding(topology.Input)[0].Sockets.Client.Dial
	if reply, err := client.RequestOnce(t.Context(), nil, at, protocol.Request{Type: protocol.Sessions}, 500*time.Millisecond); err == nil {
		t.Errorf("without a key %s answers %+v", at, reply)
	}
	if r := must(t, "up", "-f", k.file); strings.Contains(r.err, "made") {
		t.Errorf("posta up a second time: %s", r.err)
	}
	must(t, "down", "-f", k.file)
	for _, lost := range []string{"client/local/key.pem", "node/joiner-1"} {
		if err := os.RemoveAll(filepath.Join(k.dir, "keys", lost)); err != nil {
			t.Fatal(err)
		}
	}
	if r := must(t, "up", "-f", k.file); !strings.Contains(r.err, "made 2 keys") {
		t.Errorf("posta up after a loss: %s", r.err)
	}
	must(t, "submit", "bikes", "--data", bikes, "-f", k.file)
}

// TestS1_KeysAreMadeToTheEnd: a command that is killed after it has made certificates leaves them without the CAs they trust, or without
// the list of revoked keys. The next command finishes this, and makes no other keys.
func TestS1_KeysAreMadeToTheEnd(t *testing.T) {
	k := newTestKeys(t)
	text, err := topology.Generate(topology.Variant{Address: "127.0.0.1"})
	k.do(err)
	k.write(text)
	top, err := topology.Load(k.file)
	k.do(err)
	x := &command{Call: &call.Call{Out: io.Discard, Err: io.Discard}}
	if made, err := keyring.MakeLocalKeys(x.Call, top); err != nil || made == 0 {
		t.Fatalf("%d keys, %v", made, err)
	}
	ring := keyring.Of(top)
	before, err := deploy.UnitKeys(top, "")
	if err != nil || !ring.Complete(time.Now()) {
		t.Fatalf("the keys that were just made: %v", err)
	}
	for what, spoil := range map[string]func() error{
		"no CAs":          func() error { return os.Remove(k.at("node", "joiner-1", "ca.pem")) },
		"no CAs of ours":  func() error { return os.Remove(k.at("client", "local", "ca.pem")) },
		"no list":         func() error { return os.Remove(k.at("medic", "medic-1", "revoked")) },
		"half of the CAs": func() error { return os.Truncate(k.at("node", "input-1", "ca.pem"), 40) },
		"CAs of others": func() error {
			ca, err := security.NewCA(top.Name, time.Now())
			if err != nil {
				return err
			}
			return security.WriteCAs(k.at("node", "output-1"), ca.Certificate())
		},
	} {
		k.do(spoil())
		if ring.Complete(time.Now()) {
			t.Errorf("%s: the keys count as complete", what)
		}
		if made, err := keyring.MakeLocalKeys(x.Call, top); err != nil || made != 0 {
			t.Errorf("%s: made %d keys, %v", what, made, err)
		}
		after, err := deploy.UnitKeys(top, "")
		if err != nil || !maps.Equal(deploy.Digests(after), deploy.Digests(before)) || !ring.Complete(time.Now()) {
			t.Errorf("%s: other keys than before, or %v", what, err)
		}
	}
	// A revocation that has not reached everybody.
	k.do(security.Revoke(top.KeysDir, security.FingerprintOf(make(ed25519.PublicKey, ed25519.PublicKeySize)), "nobody's"))
	if _, err := keyring.MakeLocalKeys(x.Call, top); err != nil {
		t.Fatal(err)
	}
	if has, err := security.ReadRevoked(k.at("node", "reducer-1")); err != nil || len(has) != 1 {
		t.Errorf("the revoked keys: %v, %v", has, err)
	}
}

// TestS6_UpHasClientsReadAgain: if only [clients] has changed, posta up makes the running processes read it again, and no connection is
// lost. Any other change is refused as before.
func TestS6_UpHasClientsReadAgain(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40),
		Settings: map[string]string{"limits.drain": "0s", "medics.replicas": "1"}})
	must(t, "up", "-f", k.file)
	before, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(old, new string) {
		t.Helper()
		text := strings.Replace(string(before), old, new, 1)
		if text == string(before) {
			t.Fatalf("the file has no %q", old)
		}
		if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	asBob := func() result { return posta(t, "sessions", "-f", k.file, "--key", k.key("bob")) }
	line := must(t, "key", "new", "bob", "--role", "operate", "-f", k.file).out
	if r := asBob(); r.code == exit.OK {
		t.Errorf("bob is let in before anybody has said so: %s", r.out)
	}
	rewrite("[clients]\n", "[clients]\n"+line)
	if r := must(t, "up", "-f", k.file); !strings.Contains(r.err, "read them again") || !strings.Contains(r.err, "is up already") {
		t.Errorf("posta up says %s", r.err)
	}
	await.Until(t, "bob is let in", func() bool { return asBob().code == exit.OK })
	if r := must(t, "up", "-f", k.file); strings.Contains(r.err, "again") {
		t.Errorf("posta up with nothing new says %s", r.err)
	}
	rewrite("drain = \"0s\"", "drain = \"1s\"")
	if r := posta(t, "up", "-f", k.file); r.code == exit.OK || !strings.Contains(r.err, "posta down") {
		t.Errorf("with another limit: %d: %s", r.code, r.err)
	}
}

// TestS1_ContainersLetTheirUserIn: the keys that posta up has made also work for containers of the same topology. The command line of the
// containers names the user's public key, and a process with that command line admits the key.
func TestS1_ContainersLetTheirUserIn(t *testing.T) {
	top := loaded(t, func(text string) string { return text }, topology.Variant{Address: "127.0.0.1"})
	compose := func() string { return must(t, "topology", "compose", "-f", top.File).out }
	if text := compose(); strings.Contains(text, "--keys") || strings.Contains(text, "--local-client") {
		t.Error("containers without keys are to have some")
	}
	x := &command{Call: &call.Call{Out: io.Discard, Err: io.Discard}}
	if made, err := keyring.MakeLocalKeys(x.Call, top); err != nil || made == 0 {
		t.Fatalf("%d keys, %v", made, err)
	}
	k := keyring.Of(top)
	own, err := k.LocalKey()
	if err != nil || own == "" {
		t.Fatal(err)
	}
	if n := strings.Count(compose(), fmt.Sprintf("--local-client, %q]", own)); n != len(top.All()) {
		t.Errorf("%d of %d containers let their user in", n, len(top.All()))
	}
	n := top.Nodes()[0]
	c, err := security.ReadCertificate(k.LocalHome())
	if err != nil {
		t.Fatal(err)
	}
	user := tls.ConnectionState{Version: tls.VersionTLS13, NegotiatedProtocol: "posta/2/client", PeerCertificates: []*x509.Certificate{c}}
	for _, given := range []bool{true, false} {
		args := []string{"--keys", k.Home(n.Identity())}
		if given {
			args = append(args, "--local-client", string(own))
		}
		keys, err := keysOf(t, top, n, args...)
		if err != nil {
			t.Fatal(err)
		}
		who, err := keys.Socket(security.ClientAPI, nil).Peer(user)
		if given && who != "operate/local" || !given && !errors.Is(err, security.ErrNotAdmitted) {
			t.Errorf("named %v: the user is %s, %v", given, who, err)
		}
	}
	if _, err := keysOf(t, top, n, "--keys", k.Home(n.Identity()), "--local-client", "rubbish"); err == nil {
		t.Error("rubbish is a client")
	}
}

// TestS1_KeysOfAnOperatorStayTheirs: where posta key init has made keys, posta up adds none, neither for a node that lacks one nor for its
// user.
func TestS1_KeysOfAnOperatorStayTheirs(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40), Settings: map[string]string{"medics.replicas": "0"}})
	must(t, "key", "init", "-f", k.file)
	if err := os.RemoveAll(filepath.Join(k.dir, "keys", "node", "joiner-1")); err != nil {
		t.Fatal(err)
	}
	if r := posta(t, "up", "-f", k.file); r.code != exit.Usage || !strings.Contains(r.err, "joiner-1 has no keys") ||
		!strings.Contains(r.err, "posta key init") {
		t.Errorf("%d: %s", r.code, r.err)
	}
	if _, err := os.Lstat(filepath.Join(k.dir, "keys", "client")); err == nil {
		t.Error("a key of a client was made")
	}
	if err := os.WriteFile(filepath.Join(k.dir, "taken"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40), Settings: map[string]string{"security.keys": "taken"}})
	if r := posta(t, "up", "-f", k.file); r.code == exit.OK || !strings.Contains(r.err, "names another directory") {
		t.Errorf("where no key can be written: %d: %s", r.code, r.err)
	}
	if r := posta(t, "key", "new", "local", "--role", "submit", "-f", k.file); r.code != exit.Usage || !strings.Contains(r.err,
		"another one") {
		t.Errorf("a client called local: %d: %s", r.code, r.err)
	}
}

// TestS1_UnixSocketsAndTCPInOneTopology: stages on unix sockets and stages on TCP of one machine work together. Those on TCP demand keys,
// and those on unix sockets are reached without, by this user alone.
func TestS1_UnixSocketsAndTCPInOneTopology(t *testing.T) {
	k, near := newTestCluster(t), temp.Sockets(t)
	k.write(topology.Variant{Address: "127.0.0.1", Ports: freePorts(t, 40),
		Settings: map[string]string{"limits.drain": "0s", "medics.replicas": "2"}})
	text, err := os.ReadFile(k.file)
	if err != nil {
		t.Fatal(err)
	}
	mixed := strings.Replace(string(text), "[hosts.local]", "[hosts.near]\naddress = \"ipc:"+near+"\"\n[hosts.local]", 1)
	for _, stage := range []string{"joiner", "output"} {
		at := strings.Index(mixed, "name = \""+stage+"\"")
		mixed = mixed[:at] + strings.Replace(mixed[at:], `hosts = ["local"]`, `hosts = ["near"]`, 1)
	}
	if err := os.WriteFile(k.file, []byte(mixed), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "up", "-f", k.file)
	must(t, "submit", "bikes", "--data", data(t, "1000"), "-f", k.file)
	k.shows("nobody as silent", func(out string) bool { return !strings.Contains(out, "silent") })
	must(t, "sessions", "-f", k.file)
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	for role, patience := range map[topology.Role]time.Duration{topology.Input: 500 * time.Millisecond, topology.Output: time.Minute} {
		at := top.Holding(role)[0].Sockets.Client.Dial
		if _, err := client.RequestOnce(t.Context(), nil, at, protocol.Request{Type: protocol.Info},
			patience); (err == nil) != (role == topology.Output) {
			t.Errorf("without a key %s answers with the error %v", at, err)
		}
	}
}
