package cmd

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/cmd/internal/key"
	"posta.dev/posta/cmd/internal/keyring"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// testKeys is a topology with its directory of keys.
type testKeys struct {
	t    *testing.T
	file string
	dir  string
	text string
}

func newTestKeys(t *testing.T) *testKeys {
	t.Helper()
	dir := t.TempDir()
	k := &testKeys{t: t, file: filepath.Join(dir, "topology.toml"), dir: filepath.Join(dir, "keys")}
	k.write(topology.DefaultText())
	return k
}

func (k *testKeys) write(text string) {
	k.t.Helper()
	k.text = text
	if err := os.WriteFile(k.file, []byte(text), 0o600); err != nil {
		k.t.Fatal(err)
	}
}

// letIn writes the line of posta key new into the topology.
func (k *testKeys) letIn(line string) {
	k.t.Helper()
	k.write(strings.Replace(k.text, "[clients]\n", "[clients]\n"+line, 1))
}

func (k *testKeys) say(command string, args ...string) result {
	k.t.Helper()
	r := posta(k.t, append([]string{"key", command, "-f", k.file}, args...)...)
	if strings.Contains(r.out+r.err, "-----BEGIN") {
		k.t.Errorf("posta key %s prints a private key", command)
	}
	return r
}

func (k *testKeys) must(command string, args ...string) result {
	k.t.Helper()
	r := k.say(command, args...)
	if r.code != exit.OK {
		k.t.Fatalf("posta key %s %v: exit code %d, %s", command, args, r.code, r.err)
	}
	return r
}

// trusts reports whether a process accepts the certificate of another one.
func (k *testKeys) trusts(who, whom string) error {
	k.t.Helper()
	t, err := topology.Load(k.file)
	if err != nil {
		k.t.Fatal(err)
	}
	cas, err := security.ReadCAs(filepath.Join(k.dir, who))
	if err != nil {
		k.t.Fatal(err)
	}
	revoked, err := security.ReadRevoked(filepath.Join(k.dir, who))
	if err != nil {
		k.t.Fatal(err)
	}
	pair, err := security.ReadPair(filepath.Join(k.dir, whom))
	if err != nil {
		k.t.Fatal(err)
	}
	trust := security.Trust{Cluster: t.Name, CAs: cas, Clients: t.TrustedClients(), Revoked: revoked}
	id, err := trust.Verify([][]byte{pair.Certificate}, time.Now())
	if err == nil && id.Name != filepath.Base(whom) {
		k.t.Errorf("%s is taken for %s", whom, id)
	}
	return err
}

// list returns what posta key list --json prints, by role and name.
func (k *testKeys) list() map[string]key.KeyView {
	k.t.Helper()
	var all []key.KeyView
	if err := json.Unmarshal([]byte(k.must("list", "--json").out), &all); err != nil {
		k.t.Fatal(err)
	}
	views := map[string]key.KeyView{}
	for _, v := range all {
		views[v.Role+"/"+v.Name] = v
	}
	return views
}

func TestS6_KeysAreMadeOnceAndForTheirUserAlone(t *testing.T) {
	k := newTestKeys(t)
	if r := k.say("list"); r.code != exit.Usage || !strings.Contains(r.err, "posta key init -f "+k.file) {
		t.Errorf("before there are keys: %d, %s", r.code, r.err)
	}
	if r := k.must("init"); !strings.Contains(r.err, "made a CA") || !strings.Contains(r.err, "made 10 certificates") || r.out != "" {
		t.Errorf("init says %q, %q", r.out, r.err)
	}
	first := k.list()
	if r := k.must("init"); strings.Contains(r.err, "made") {
		t.Errorf("init again says %q", r.err)
	}
	if err := os.RemoveAll(filepath.Join(k.dir, "node", "joiner-2")); err != nil {
		t.Fatal(err)
	}
	k.must("init")
	for name, v := range k.list() {
		if same := v.Key == first[name].Key; same != (name != "node/joiner-2") || v.Note != "" {
			t.Errorf("%s has its first key: %v; note %q", name, same, v.Note)
		}
	}
	if n := openToOthers(t, k.dir); n < 40 {
		t.Errorf("%d files", n)
	}
	for _, p := range [][2]string{{"node/input-1", "node/joiner-2"}, {"medic/medic-1", "node/input-1"}, {"node/output-1", "medic/medic-3"}} {
		if err := k.trusts(p[0], p[1]); err != nil {
			t.Errorf("%s does not trust %s: %v", p[0], p[1], err)
		}
	}
	// The topology gets more nodes, and a crash happened between writing a key and its certificate.
	k.write(strings.Replace(k.text, "name = \"joiner\"\nchain = [\"joiner\"]\nreplicas = 2",
		"name = \"joiner\"\nchain = [\"joiner\"]\nreplicas = 3", 1))
	if err := os.Remove(filepath.Join(k.dir, "node", "input-1", "cert.pem")); err != nil {
		t.Fatal(err)
	}
	if v := k.list()["node/joiner-3"]; !strings.Contains(v.Note, "posta key init") {
		t.Errorf("a node without a key is listed as %+v", v)
	}
	if r := k.must("init"); !strings.Contains(r.err, "made 2 certificates") {
		t.Errorf("init says %q", r.err)
	}
}

func TestS5_ANewClientIsLetInByTheLineThatIsPrinted(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	r := k.must("new", "alice", "--role", "submit")
	if err := k.trusts("node/input-1", "client/alice"); !errors.Is(err, security.ErrNotAdmitted) {
		t.Errorf("before the line is in the topology: %v", err)
	}
	k.letIn(r.out)
	if err := k.trusts("node/input-1", "client/alice"); err != nil {
		t.Errorf("with its line: %v", err)
	}
	if err := k.trusts("client/alice", "node/input-1"); err != nil {
		t.Errorf("the client does not trust a node: %v", err)
	}
	if v := k.list()["submit/alice"]; v.Note != "" || v.Expires == nil {
		t.Errorf("it is listed as %+v", v)
	}
	elsewhere := filepath.Join(t.TempDir(), "bob")
	k.letIn(k.must("new", "bob", "--role", "watch", "--out", elsewhere).out)
	if keys, err := security.Load(elsewhere, "posta", nil); err != nil ||
		keys.Identity() != (security.Identity{Role: security.Client, Name: "bob"}) {
		t.Errorf("bob's directory is %v, %v", keys, err)
	}
	if v := k.list()["watch/bob"]; v.Note != "" || v.Expires != nil {
		t.Errorf("a client whose key is elsewhere is listed as %+v", v)
	}
	for name, args := range map[string][]string{
		"which client":            {},
		"is not a name":           {"Alice", "--role", "submit"},
		"give submit, watch or":   {"carol"},
		`--role "root"`:           {"carol", "--role", "root"},
		"has a client called":     {"alice", "--role", "submit"},
		"has a key already":       {"carol", "--role", "submit", "--out", elsewhere},
		"one client, not 2 (a b)": {"a", "b"},
	} {
		if r := k.say("new", args...); r.code != exit.Usage || !strings.Contains(r.err, name) || r.out != "" {
			t.Errorf("key new %v: %d, %s", args, r.code, r.err)
		}
	}
}

func TestS6_ARevokedKeyIsRefusedAndReplaced(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	k.letIn(k.must("new", "alice", "--role", "operate").out)
	k.letIn(k.must("new", "joiner-1", "--role", "watch").out)
	k.must("revoke", "alice")
	k.must("revoke", "node/joiner-1")
	for _, whom := range []string{"client/alice", "node/joiner-1"} {
		if err := k.trusts("node/input-1", whom); !errors.Is(err, security.ErrRevoked) {
			t.Errorf("%s is revoked: %v", whom, err)
		}
	}
	if err := k.trusts("node/input-1", "client/joiner-1"); err != nil {
		t.Errorf("another one of the same name: %v", err)
	}
	if all := k.list(); all["operate/alice"].Note != "revoked" || all["node/joiner-1"].Note != "revoked" || all["watch/joiner-1"].Note != "" {
		t.Errorf("listed as %+v", all)
	}
	if r := k.must("init"); !strings.Contains(r.err, "node/joiner-1 gets another certificate: the one before is revoked") {
		t.Errorf("init says %q", r.err)
	}
	if err := k.trusts("node/input-1", "node/joiner-1"); err != nil {
		t.Errorf("with its new certificate: %v", err)
	}
	late := k.must("new", "dave", "--role", "submit") // this directory was made after the revocation, so it contains the revocation
	k.letIn(late.out)
	if err := k.trusts("client/dave", "client/alice"); !errors.Is(err, security.ErrRevoked) {
		t.Errorf("seen from a new directory: %v", err)
	}
	for want, args := range map[string][]string{"these have one: client/alice": {"nobody"},
		"give one of client/joiner-1, node/joiner-1": {"joiner-1"}, "which node": {}} {
		if r := k.say("revoke", args...); r.code != exit.Usage || !strings.Contains(r.err, want) {
			t.Errorf("key revoke %v: %d, %s", args, r.code, r.err)
		}
	}
}

// TestS6_ACAIsReplacedInThreeSteps: after each step, processes with the keys of the step before and processes with the new keys trust each
// other. So the keys need not arrive everywhere at once.
func TestS6_ACAIsReplacedInThreeSteps(t *testing.T) {
	k := newTestKeys(t)
	if r := k.say("init", "--rotate-ca"); r.code != exit.Usage || !strings.Contains(r.err, "no CA to rotate") {
		t.Errorf("without a CA: %d, %s", r.code, r.err)
	}
	k.must("init")
	first := k.list()
	for step := 1; step <= 3; step++ {
		before := filepath.Join(t.TempDir(), "before")
		if err := os.CopyFS(before, os.DirFS(filepath.Join(k.dir, "node", "input-1"))); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(filepath.Join(before, "key.pem"), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := k.must("init", "--rotate-ca"); !strings.Contains(r.err, "step "+string(rune('0'+step))+" of 3") {
			t.Errorf("step %d says %q", step, r.err)
		}
		old, err := filepath.Rel(k.dir, before)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(os.Rename(before, filepath.Join(k.dir, "input-1")), k.trusts("node/joiner-1", "input-1"),
			k.trusts("input-1", "node/joiner-1")); err != nil {
			t.Errorf("step %d: who has the keys of before (%s) and who has the new ones: %v", step, old, err)
		}
		if err := os.RemoveAll(filepath.Join(k.dir, "input-1")); err != nil {
			t.Fatal(err)
		}
	}
	last := k.list()
	if last["ca/ca"].Key == first["ca/ca"].Key || last["node/input-1"].Key == first["node/input-1"].Key || len(last) != len(first) {
		t.Errorf("after the rotation there is %v, before %v", last, first)
	}
	// The test simulates a crash between the two renames of the second step, and runs the command again.
	k.must("init", "--rotate-ca")
	if err := os.Rename(filepath.Join(k.dir, "ca"), filepath.Join(k.dir, "ca-former")); err != nil {
		t.Fatal(err)
	}
	if r := k.must("init", "--rotate-ca"); !strings.Contains(r.err, "step 2 of 3") {
		t.Errorf("after a crash: %q", r.err)
	}
	if all := k.list(); all["ca/ca-former"].Key != last["ca/ca"].Key || all["ca/ca"].Key == last["ca/ca"].Key {
		t.Errorf("after a crash the CAs are %+v", all)
	}
}

// TestS6_AStepOfARotationIsFinishedFirst: a command is killed after it has changed the CAs, and before all directories have them. The
// operator has brought nothing to the processes, so the next command may not go on to the next step.
func TestS6_AStepOfARotationIsFinishedFirst(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	says := []string{"", "step 1 of 3", "step 2 of 3", "had begun before is finished"}
	for step := 1; step <= 3; step++ {
		cas := k.at("node", "joiner-1", "ca.pem")
		before, err := os.ReadFile(cas)
		k.do(err)
		k.must("init", "--rotate-ca")
		after := k.list()["ca/ca"].Key
		now, err := os.ReadFile(cas)
		k.do(err, os.WriteFile(cas, before, 0o600))
		k.do(os.Mkdir(k.at("ca-gone"), 0o700))
		if r := k.must("init", "--rotate-ca"); strings.Count(r.err, says[step]) != 1 || strings.Count(r.err, " of 3") > 1 ||
			k.list()["ca/ca"].Key != after {
			t.Errorf("after a kill in step %d: %s", step, r.err)
		}
		if again, err := os.ReadFile(cas); err != nil || !bytes.Equal(again, now) {
			t.Errorf("step %d was not finished: %v", step, err)
		}
	}
	if left, err := filepath.Glob(k.at("ca-*")); err != nil || len(left) != 0 {
		t.Errorf("after the last step there are %v, %v", left, err)
	}
	if r := k.must("init", "--rotate-ca"); !strings.Contains(r.err, "step 1 of 3") {
		t.Errorf("another rotation begins with %s", r.err)
	}
}

func TestKeyListWarnsBeforeTheEnd(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	top, err := topology.Load(k.file)
	if err != nil {
		t.Fatal(err)
	}
	ring := keyring.Of(top)
	for after, want := range map[time.Duration]string{
		0: "", security.CertificateLife - 31*24*time.Hour: "", security.CertificateLife - 29*24*time.Hour: "expires in 2",
		security.CertificateLife + time.Hour: "has expired",
	} {
		all, err := key.ListKeys(ring, time.Now().Add(after))
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			if v.Role != "ca" && (!strings.HasPrefix(v.Note, want) || v.Soon != (want != "")) {
				t.Errorf("after %v %s is listed with %q, warned of: %v", after, v.Name, v.Note, v.Soon)
			}
		}
	}
	ca, err := ring.CA(keyring.CADir)
	if err != nil {
		t.Fatal(err)
	}
	r, x := &strings.Builder{}, &command{Call: &call.Call{}}
	x.Err = r
	if made, err := keyring.Issue(x.Call, ring, ca, time.Now().Add(security.CertificateLife-29*24*time.Hour),
		security.ExpiryWarning); made != 10 ||
		err != nil || !strings.Contains(r.String(), "the one before is expiring") {
		t.Errorf("certificates that expire soon: %d made again, %v, %s", made, err, r)
	}
}

// TestS6_KeysOfOthersAreRefused: keys of another cluster or of another user do not count as keys of this one.
func TestS6_KeysOfOthersAreRefused(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	k.write(strings.Replace(k.text, `name = "posta"`, `name = "other"`, 1))
	if r := k.say("init"); r.code != exit.Usage || !strings.Contains(r.err, "those of cluster posta") {
		t.Errorf("key init: %d, %s", r.code, r.err)
	}
	if err := os.Chmod(filepath.Join(k.dir, "ca", "key.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	k.write(strings.Replace(k.text, `name = "other"`, `name = "posta"`, 1))
	if r := k.say("init"); r.code == exit.OK || !strings.Contains(r.err, "chmod") {
		t.Errorf("a CA's key that others may read: %d, %s", r.code, r.err)
	}
}
