package cmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
)

func (k *testKeys) at(parts ...string) string {
	return filepath.Join(append([]string{k.dir}, parts...)...)
}

func (k *testKeys) do(errs ...error) {
	k.t.Helper()
	if err := errors.Join(errs...); err != nil {
		k.t.Fatal(err)
	}
}

// TestS6_ABrokenPairStopsNothing: one pair of key and certificate is half written, damaged, or readable for others. All other keys can
// still be listed, revoked and made, and the broken one is repaired or named.
func TestS6_ABrokenPairStopsNothing(t *testing.T) {
	for what, spoil := range map[string]func(k *testKeys, dir string){
		"a key of another certificate": func(k *testKeys, dir string) {
			pair, err := security.NewClient("posta", "x", time.Now())
			k.do(err, security.WritePair(k.at("x"), pair), os.Rename(k.at("x", "key.pem"), filepath.Join(dir, "key.pem")), os.RemoveAll(k.at("x")))
		},
		"a damaged key": func(k *testKeys, dir string) {
			k.do(os.WriteFile(filepath.Join(dir, "key.pem"), []byte("-----"), 0o600))
		},
		"no key":         func(k *testKeys, dir string) { k.do(os.Remove(filepath.Join(dir, "key.pem"))) },
		"no certificate": func(k *testKeys, dir string) { k.do(os.Remove(filepath.Join(dir, "cert.pem"))) },
		"a damaged certificate": func(k *testKeys, dir string) {
			k.do(os.WriteFile(filepath.Join(dir, "cert.pem"), []byte("-----"), 0o600))
		},
		"a key for all to read": func(k *testKeys, dir string) { k.do(os.Chmod(filepath.Join(dir, "key.pem"), 0o644)) },
	} {
		t.Run(what, func(t *testing.T) {
			k := newTestKeys(t)
			k.must("init")
			was := k.list()["node/joiner-1"].Key
			spoil(k, k.at("node", "joiner-1"))
			if v := k.list()["node/joiner-1"]; v.Note == "" {
				t.Errorf("it is listed as %+v", v)
			}
			k.must("revoke", "medic/medic-1")
			if err := k.trusts("node/input-1", "medic/medic-1"); !errors.Is(err, security.ErrRevoked) {
				t.Errorf("another one that was revoked: %v", err)
			}
			if what == "a key for all to read" {
				k.do(os.RemoveAll(k.at("node", "output-1")))
				if r := k.say("init"); r.code == exit.OK || !strings.Contains(r.err, "node/joiner-1") || !strings.Contains(r.err, "chmod") ||
					!strings.Contains(r.err, "posta key revoke node/joiner-1") {
					t.Errorf("init: %d, %s", r.code, r.err)
				}
				if err := k.trusts("node/input-1", "node/output-1"); err != nil {
					t.Errorf("another one is not made: %v", err)
				}
				return
			}
			k.must("init")
			if v := k.list()["node/joiner-1"]; v.Note != "" || v.Key == was {
				t.Errorf("init leaves %+v", v)
			}
			// The former key is still valid, so it has to be revoked by name.
			k.must("revoke", "joiner-1")
			if revoked, err := security.ReadRevoked(k.at("node", "input-1")); err != nil || !revoked[was] {
				t.Errorf("the former key %s is not revoked: %v, %v", was, revoked, err)
			}
		})
	}
}

// TestS6_FormerKeysAreRevokedByName: this includes a certificate that was renewed before it expired, and a client whose directory and line
// are gone.
func TestS6_FormerKeysAreRevokedByName(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	first := k.list()["node/joiner-1"].Key
	k.do(os.RemoveAll(k.at("node", "joiner-1")))
	k.must("init")
	k.must("new", "alice", "--role", "submit", "--out", filepath.Join(t.TempDir(), "alice"))
	line := k.must("new", "alice", "--role", "submit", "--out", filepath.Join(t.TempDir(), "again")).out // the first key was lost
	k.must("revoke", "alice")
	k.must("revoke", "node/joiner-1")
	revoked, err := security.ReadRevoked(k.dir)
	if err != nil || len(revoked) != 4 || !revoked[first] {
		t.Errorf("revoked are %v, %v", revoked, err)
	}
	_, text, _ := strings.Cut(line, `key = "`)
	text, _, _ = strings.Cut(text, `"`)
	if !revoked[security.Fingerprint(text)] {
		t.Errorf("the second key of alice, %s, is not revoked", text)
	}
	// A certificate that no note mentions is revoked by its public key.
	k.do(os.WriteFile(k.at("issued"), []byte("rubbish\n"), 0o600), os.WriteFile(k.at("medic", "medic-2", "cert.pem"), nil, 0o600))
	if r := k.say("revoke", "medic-2"); r.code != exit.Usage || !strings.Contains(r.err, "posta key revoke ed25519:") ||
		!strings.Contains(r.err, "rubbish") {
		t.Errorf("the key of a broken certificate: %d, %s", r.code, r.err)
	}
	lost, err := security.NewKey()
	k.do(err)
	k.must("revoke", string(lost.Fingerprint()))
	if revoked, err := security.ReadRevoked(k.at("node", "input-1")); err != nil || !revoked[lost.Fingerprint()] {
		t.Errorf("a key that nobody knows is not revoked: %v", err)
	}
}

// TestS6_NoSecondCAInSilence: processes with certificates of two CAs do not trust each other. So a new CA is made only for a cluster that
// has no keys.
func TestS6_NoSecondCAInSilence(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	k.do(os.Rename(k.at("ca"), filepath.Join(t.TempDir(), "ca")))
	for _, args := range [][]string{nil, {"--rotate-ca"}} {
		if r := k.say("init", args...); r.code != exit.Usage || !strings.Contains(r.err, "there is no CA in "+k.dir) ||
			!strings.Contains(r.err, "bring "+k.at("ca")+" back") {
			t.Errorf("init %v: %d, %s", args, r.code, r.err)
		}
	}
	if _, err := os.Lstat(k.at("ca")); err == nil {
		t.Error("a CA was made")
	}
	k.must("revoke", "node/joiner-1")
	if v := k.list()["node/joiner-1"]; v.Note != "revoked" {
		t.Errorf("without a CA it is listed as %+v", v)
	}
	k.do(os.RemoveAll(k.at("node")), os.RemoveAll(k.at("medic")))
	if r := k.must("init"); !strings.Contains(r.err, "made a CA") {
		t.Errorf("init after what it said was done: %s", r.err)
	}
}

// TestS6_TheCAsKeyMayBeElsewhere: with only the certificate of the CA, everything works except signing.
func TestS6_TheCAsKeyMayBeElsewhere(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	ca := k.list()["ca/ca"].Key
	k.do(os.Rename(k.at("ca", "key.pem"), filepath.Join(t.TempDir(), "key.pem")))
	if v := k.list()["ca/ca"]; v.Key != ca || !strings.Contains(v.Note, "elsewhere") {
		t.Errorf("the CA is listed as %+v", v)
	}
	if r := k.say("init"); r.code != exit.Usage || !strings.Contains(r.err, "the key of the CA is elsewhere") {
		t.Errorf("init: %d, %s", r.code, r.err)
	}
	k.letIn(k.must("new", "alice", "--role", "submit").out)
	if err := k.trusts("client/alice", "node/input-1"); err != nil {
		t.Errorf("a new client does not trust a node: %v", err)
	}
	k.must("revoke", "alice")
	if err := k.trusts("node/input-1", "client/alice"); !errors.Is(err, security.ErrRevoked) {
		t.Errorf("revoked: %v", err)
	}
}

// TestS6_ARevokedCAIsReplaced: a revoked CA signs nothing more, and after the three steps all processes trust each other's keys.
func TestS6_ARevokedCAIsReplaced(t *testing.T) {
	k := newTestKeys(t)
	k.must("init")
	if r := k.must("revoke", string(k.list()["ca/ca"].Key)); !strings.Contains(r.err, "--rotate-ca") {
		t.Errorf("revoke says %q", r.err)
	}
	if err := k.trusts("node/input-1", "node/joiner-1"); !errors.Is(err, security.ErrRevoked) {
		t.Errorf("signed by a CA that is revoked: %v", err)
	}
	if v := k.list()["ca/ca"]; v.Note != "revoked" {
		t.Errorf("the CA is listed as %+v", v)
	}
	if r := k.say("init"); r.code != exit.Usage || !strings.Contains(r.err, "--rotate-ca") {
		t.Errorf("init: %d, %s", r.code, r.err)
	}
	for range 3 {
		k.must("init", "--rotate-ca")
	}
	if err := k.trusts("node/input-1", "node/joiner-1"); err != nil {
		t.Errorf("after the rotation: %v", err)
	}
}
