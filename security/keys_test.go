package security

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestS6_AKeyIsNeverPrinted: whatever holds a key, and however it is printed, logged or marshalled, no part of the key comes out.
func TestS6_AKeyIsNeverPrinted(t *testing.T) {
	c := newCluster(t)
	keys := c.keys(t, Node, "joiner-1")
	pair := must[Pair](t)(ReadPair(c.dir(Identity{Node, "joiner-1"})))
	private := pair.Key.private()
	secrets := []string{
		fmt.Sprint([]byte(private[:8])), hex.EncodeToString(private[:8]), strings.ToUpper(hex.EncodeToString(private[:8])),
		base64.StdEncoding.EncodeToString(private[:9]), base64.RawURLEncoding.EncodeToString(private[:9]), string(private[:8]),
		fmt.Sprintf("%#v", []byte(private[:8])),
	}
	for i, s := range secrets {
		secrets[i] = strings.Trim(s, "[]{}")
	}
	secrets[len(secrets)-1] = strings.TrimPrefix(secrets[len(secrets)-1], "byte{")
	socket := keys.Socket(Data, anyone)
	var log bytes.Buffer
	noError(t, json.NewEncoder(&log).Encode(pair))
	for _, v := range []any{pair.Key, &pair.Key, pair, &pair, keys, *keys.loaded.Load(), c.ca, *c.ca, socket, *socket,
		socket.Server().Certificates[0], []any{pair}, map[string]any{"k": pair.Key}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
			fmt.Fprintf(&log, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&log, nil)).Info("text", "v", v)
		slog.New(slog.NewJSONHandler(&log, nil)).Info("json", "v", v)
	}
	for _, s := range secrets {
		if bytes.Contains(log.Bytes(), []byte(s)) {
			t.Errorf("%q came out", s)
		}
	}
	if !strings.Contains(pair.Key.String(), string(pair.Key.Fingerprint())) || !strings.Contains(keys.String(), "node/joiner-1") {
		t.Errorf("%v, %v: not even told which key it is", pair.Key, keys)
	}
	if (Key{}).String() == "" {
		t.Error("a key that is none prints nothing")
	}
}

// TestS6_FilesOfKeys: what is written is private and can be read back; what others could read or change is refused in words that say what
// to run.
func TestS6_FilesOfKeys(t *testing.T) {
	c := newCluster(t)
	id := Identity{Node, "joiner-1"}
	dir := c.write(t, id, must[Pair](t)(c.ca.Issue(id, time.Now())))
	noError(t, Revoke(dir, c.alice.Key.Fingerprint(), "alice, 2030-05-01"))
	load := func() error {
		_, err := Load(dir, "posta", nil)
		return err
	}
	noError(t, load())
	for _, name := range []string{keyFile, certificateFile, caFile, revokedFile} {
		if mode := must[fs.FileInfo](t)(os.Stat(filepath.Join(dir, name))).Mode(); mode != 0o600 {
			t.Errorf("%s has the mode %v", name, mode)
		}
	}
	if mode := must[fs.FileInfo](t)(os.Stat(dir)).Mode().Perm(); mode != 0o700 {
		t.Errorf("the directory has the mode %v", mode)
	}
	for _, bad := range []struct {
		name string
		mode fs.FileMode
		says string
	}{
		{keyFile, 0o640, "chmod 0600 "}, {keyFile, 0o604, "chmod 0600 "}, {keyFile, 0o620, "chmod 0600 "},
		{certificateFile, 0o660, "chmod 0600 "},
		{caFile, 0o602, "chmod 0600 "}, {revokedFile, 0o666, "chmod 0600 "}, {".", 0o770, "chmod 0700 "}, {".", 0o707, "chmod 0700 "},
	} {
		path := filepath.Join(dir, bad.name)
		was := must[fs.FileInfo](t)(os.Stat(path)).Mode().Perm()
		noError(t, os.Chmod(path, bad.mode))
		if err := load(); !errors.Is(err, ErrUnsafeFile) || !strings.Contains(err.Error(), bad.says+path) {
			t.Errorf("%s with the mode %04o: %v", bad.name, bad.mode, err)
		}
		noError(t, os.Chmod(path, was))
	}
	noError(t, os.Chmod(filepath.Join(dir, keyFile), 0o400))
	noError(t, load())
	if os.Geteuid() == 0 { // only root can give a file away; who is not root could not have read it
		for _, name := range []string{keyFile, certificateFile, caFile, revokedFile, "."} {
			path := filepath.Join(dir, name)
			noError(t, os.Chown(path, 12345, -1))
			if err := load(); !errors.Is(err, ErrUnsafeFile) || !strings.Contains(err.Error(), "chown 0 "+path) {
				t.Errorf("%s of another user: %v", name, err)
			}
			noError(t, os.Chown(path, 0, -1))
		}
	}
	noError(t, load())
}

// TestS6_BadFiles: each names its file.
func TestS6_BadFiles(t *testing.T) {
	c := newCluster(t)
	id := Identity{Node, "joiner-1"}
	good := must[Pair](t)(c.ca.Issue(id, time.Now()))
	dir := c.write(t, id, good)
	other := newCluster(t)
	elsewhere := encodeCertificate(must[*CA](t)(NewCA("elsewhere", time.Now())).Certificate().Raw)
	ca := encodeCertificate(c.ca.Certificate().Raw)
	join := func(parts ...[]byte) string { return string(bytes.Join(parts, nil)) }
	read := func(name string) string { return string(must[[]byte](t)(os.ReadFile(filepath.Join(dir, name)))) }
	key, certificate := read(keyFile), read(certificateFile)
	for _, bad := range []struct{ name, content string }{
		{keyFile, ""}, {keyFile, "rubbish"}, {keyFile, key + key}, {keyFile, certificate}, {keyFile, key[:80]},
		{keyFile, strings.Replace(key, "M", "N", 1)},
		{keyFile, join([]byte(key), ca)}, {keyFile, strings.Repeat("#", maxFile+1)},
		{certificateFile, ""}, {certificateFile, join(ca)}, {certificateFile, certificate + certificate}, {certificateFile, key},
		{certificateFile, join(encodeCertificate(must[Pair](t)(c.ca.Issue(id, time.Now())).Certificate))},
		{caFile, ""}, {caFile, join(ca, ca)}, {caFile, certificate}, {caFile, key}, {caFile, join(elsewhere)}, {caFile, join(ca, elsewhere)},
		{caFile, join(ca, []byte("-----BEGIN CERTIFICATE-----\nrubbish"))}, {caFile, join(encodeCertificate(other.ca.Certificate().Raw))},
		{revokedFile, "ed25519:AAAA"}, {revokedFile, "joiner-1"}, {revokedFile, string(good.Key.Fingerprint())},
	} {
		path := filepath.Join(dir, bad.name)
		was, err := os.ReadFile(path)
		noError(t, os.WriteFile(path, []byte(bad.content), 0o600))
		if _, err := Load(dir, "posta", nil); err == nil || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s with %.60q: %v", bad.name, bad.content, err)
		} else if strings.Contains(err.Error(), "PRIVATE KEY-----") {
			t.Errorf("%s: the key is in the error", bad.name)
		}
		if err != nil {
			noError(t, os.Remove(path))
		} else {
			noError(t, os.WriteFile(path, was, 0o600))
		}
	}
	must[*Keys](t)(Load(dir, "posta", nil))
	for _, name := range []string{keyFile, certificateFile, caFile} {
		noError(t, os.Rename(filepath.Join(dir, name), filepath.Join(dir, "aside")))
		if _, err := Load(dir, "posta", nil); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: %v", name, err)
		}
		noError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		if _, err := Load(dir, "posta", nil); !errors.Is(err, ErrUnsafeFile) {
			t.Errorf("a directory for %s: %v", name, err)
		}
		noError(t, os.Remove(filepath.Join(dir, name)))
		noError(t, os.Rename(filepath.Join(dir, "aside"), filepath.Join(dir, name)))
	}
	if _, err := Load(filepath.Join(dir, "none"), "posta", nil); err == nil || !strings.Contains(err.Error(), "posta key init") {
		t.Errorf("without a directory: %v", err)
	}
}

// TestS6_ReloadAppliesRevocations: what cannot be read changes nothing but what is revoked, and what can be read is in force from then on.
func TestS6_ReloadAppliesRevocations(t *testing.T) {
	c := newCluster(t)
	keys := c.keys(t, Node, "joiner-1")
	dir := c.dir(Identity{Node, "joiner-1"})
	sender := must[Pair](t)(c.ca.Issue(Identity{Node, "input-1"}, time.Now()))
	verify := func() error {
		_, err := keys.loaded.Load().trust.Verify([][]byte{sender.Certificate}, time.Now())
		return err
	}
	noError(t, Revoke(dir, sender.Key.Fingerprint(), "lost"))
	noError(t, verify())
	rechecked := 0
	defer keys.OnReload(func() { rechecked++ })()
	noError(t, os.WriteFile(filepath.Join(dir, keyFile), []byte("rubbish"), 0o600))
	if err := keys.Reload(); err == nil || rechecked != 1 || !strings.Contains(err.Error(), "what is revoked is in force") {
		t.Fatalf("rubbish in place of a key: %v, rechecked %d times", err, rechecked)
	}
	if err := keys.Reload(); err == nil || rechecked != 1 {
		t.Errorf("rubbish, and nothing new: %v, rechecked %d times", err, rechecked)
	}
	if err := verify(); !errors.Is(err, ErrRevoked) {
		t.Errorf("a damaged key keeps somebody in who is revoked: %v", err)
	}
	noError(t, WritePair(dir, must[Pair](t)(c.ca.Issue(Identity{Node, "joiner-1"}, time.Now()))))
	noError(t, keys.Reload())
	if err := verify(); !errors.Is(err, ErrRevoked) {
		t.Error(err)
	}
	noError(t, Revoke(dir, must[Pair](t)(ReadPair(dir)).Key.Fingerprint(), "we ourselves"))
	another := must[Pair](t)(c.ca.Issue(Identity{Node, "input-2"}, time.Now()))
	noError(t, Revoke(dir, another.Key.Fingerprint(), "lost, too"))
	noError(t, keys.Reload())
	sender = another
	if err := verify(); !errors.Is(err, ErrRevoked) {
		t.Errorf("a process with a revoked key ignores what else is revoked: %v", err)
	}
	noError(t, WritePair(dir, must[Pair](t)(c.ca.Issue(Identity{Node, "joiner-2"}, time.Now()))))
	if err := keys.Reload(); !errors.Is(err, ErrUntrusted) || keys.Identity().Name != "joiner-1" {
		t.Errorf("the keys of another node: %v", err)
	}
}

// TestS6_ALostListRevokesStill: a list that is gone or damaged lets nobody in again; one without the line does.
func TestS6_ALostListRevokesStill(t *testing.T) {
	c := newCluster(t)
	keys := c.keys(t, Node, "joiner-1")
	path := filepath.Join(c.dir(Identity{Node, "joiner-1"}), revokedFile)
	first, second := must[Pair](t)(c.ca.Issue(Identity{Node, "input-1"}, time.Now())),
		must[Pair](t)(c.ca.Issue(Identity{Node, "input-2"}, time.Now()))
	revoked := func(p Pair) bool {
		_, err := keys.loaded.Load().trust.Verify([][]byte{p.Certificate}, time.Now())
		return errors.Is(err, ErrRevoked)
	}
	noError(t, keys.Reload()) // a process that never had a list needs none
	noError(t, os.WriteFile(path, []byte(first.Key.Fingerprint()), 0o600))
	noError(t, keys.Reload())
	noError(t, os.Remove(path))
	for range 2 {
		if err := keys.Reload(); err == nil || !strings.Contains(err.Error(), "has gone from") || !revoked(first) {
			t.Errorf("without the list: %v, revoked %v", err, revoked(first))
		}
	}
	noError(t, os.WriteFile(path, []byte("rubbish\n"+second.Key.Fingerprint()), 0o600))
	if err := keys.Reload(); err == nil || !strings.Contains(err.Error(), "line 1") || !revoked(first) || !revoked(second) {
		t.Errorf("a damaged list: %v, revoked %v and %v", err, revoked(first), revoked(second))
	}
	noError(t, os.WriteFile(path, nil, 0o600))
	noError(t, keys.Reload())
	if revoked(first) || revoked(second) {
		t.Error("an empty list revokes somebody")
	}
}

// TestS6_RevokeAllWritesOnce: many keys at once, and an empty list where there was none.
func TestS6_RevokeAllWritesOnce(t *testing.T) {
	dir := t.TempDir()
	noError(t, RevokeAll(dir, nil))
	if revoked, err := ReadRevoked(dir); revoked == nil || len(revoked) > 0 || err != nil {
		t.Errorf("an empty list is read as %v, %v", revoked, err)
	}
	a, b := must[Key](t)(NewKey()).Fingerprint(), must[Key](t)(NewKey()).Fingerprint()
	noError(t, os.WriteFile(filepath.Join(dir, revokedFile), []byte("# of old\n"+a+" # alice"), 0o600))
	noError(t, RevokeAll(dir, map[Fingerprint]bool{a: true, b: true}))
	before := must[fs.FileInfo](t)(os.Stat(filepath.Join(dir, revokedFile)))
	noError(t, RevokeAll(dir, map[Fingerprint]bool{a: true, b: true}))
	if text := must[[]byte](t)(os.ReadFile(filepath.Join(dir, revokedFile))); string(text) != fmt.Sprintf("# of old\n%s # alice\n%s\n", a, b) {
		t.Errorf("%s", text)
	}
	if !os.SameFile(before, must[fs.FileInfo](t)(os.Stat(filepath.Join(dir, revokedFile)))) {
		t.Error("a list that has all was written again")
	}
	noError(t, os.WriteFile(filepath.Join(dir, revokedFile), []byte("rubbish"), 0o600))
	if err := RevokeAll(dir, map[Fingerprint]bool{a: true}); err == nil {
		t.Error("a damaged list was added to")
	}
}

// TestS6_ARevokedCA: what it has signed is refused, and what the other one has signed is not.
func TestS6_ARevokedCA(t *testing.T) {
	first, second := newCA(t), newCA(t)
	a, b := issued(t, first, Node, "joiner-1"), issued(t, second, Node, "joiner-1")
	trust := &Trust{Cluster: "posta", CAs: []*x509.Certificate{first.Certificate(), second.Certificate()},
		Revoked: map[Fingerprint]bool{first.key.Fingerprint(): true}}
	if _, err := trust.Verify([][]byte{a.Certificate}, today); !errors.Is(err, ErrRevoked) || !strings.Contains(err.Error(), "--rotate-ca") {
		t.Errorf("signed by a CA that is revoked: %v", err)
	}
	if _, err := trust.Verify([][]byte{b.Certificate}, today); err != nil {
		t.Errorf("signed by the other CA: %v", err)
	}
}

// TestS6_Revoke: lines of people stay as they are, and a key stands there once.
func TestS6_Revoke(t *testing.T) {
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, revokedFile), []byte("# lost laptops\n\n"), 0o600))
	a, b := must[Key](t)(NewKey()).Fingerprint(), must[Key](t)(NewKey()).Fingerprint()
	for range 2 {
		noError(t, Revoke(dir, a, "alice"))
		noError(t, Revoke(dir, b, ""))
	}
	text := must[[]byte](t)(os.ReadFile(filepath.Join(dir, revokedFile)))
	if want := fmt.Sprintf("# lost laptops\n\n%s # alice\n%s\n", a, b); string(text) != want {
		t.Errorf("%s", text)
	}
	revoked := must[map[Fingerprint]bool](t)(ReadRevoked(dir))
	if len(revoked) != 2 || !revoked[a] || !revoked[b] {
		t.Errorf("%v", revoked)
	}
	if err := Revoke(dir, a, "alice\n"+string(b)); err == nil {
		t.Error("a comment of two lines was written")
	}
	if err := Revoke(dir, "alice", ""); err == nil {
		t.Error("a name was revoked in place of a key")
	}
	left := must[[]os.DirEntry](t)(os.ReadDir(dir))
	if len(left) != 1 {
		t.Errorf("%d files are left", len(left))
	}
}

// TestS6_Expiry: of a certificate and its CA what ends first counts.
func TestS6_Expiry(t *testing.T) {
	c := newCluster(t)
	keys := c.keys(t, Node, "joiner-1")
	leaf := must[*x509.Certificate](t)(x509.ParseCertificate(keys.loaded.Load().certificate.Certificate[0]))
	if !keys.Expiry().Equal(leaf.NotAfter) {
		t.Errorf("%v", keys.Expiry())
	}
	p := forge(t, c.ca, "posta://posta/node/joiner-1", func(f *x509.Certificate) { f.NotAfter = time.Now().Add(2 * caLife) })
	keys = must[*Keys](t)(Load(c.write(t, Identity{Node, "joiner-1"}, p), "posta", nil))
	if !keys.Expiry().Equal(c.ca.certificate.NotAfter) {
		t.Errorf("%v, and the CA ends %v", keys.Expiry(), c.ca.certificate.NotAfter)
	}
	expired := forge(t, c.ca, "posta://posta/node/joiner-1", func(f *x509.Certificate) { f.NotAfter = time.Now().Add(-time.Hour) })
	if _, err := Load(c.write(t, Identity{Node, "joiner-1"}, expired), "posta", nil); !errors.Is(err, ErrExpired) {
		t.Errorf("an expired certificate of our own: %v", err)
	}
}

// TestCA_IsWrittenAndRead: what it issues afterwards is trusted like what it issued before.
func TestCA_IsWrittenAndRead(t *testing.T) {
	dir, ca := t.TempDir(), newCA(t)
	noError(t, WriteCA(dir, ca))
	again := must[*CA](t)(ReadCA(dir))
	p := issued(t, again, Medic, "medic-1")
	trust := &Trust{Cluster: "posta", CAs: []*x509.Certificate{ca.Certificate()}}
	if id, err := trust.Verify([][]byte{p.Certificate}, today); err != nil || id != (Identity{Medic, "medic-1"}) ||
		again.Cluster() != "posta" {
		t.Errorf("%v, %v, %s", id, err, again.Cluster())
	}
	noError(t, WritePair(dir, p))
	if _, err := ReadCA(dir); err == nil {
		t.Error("the certificate of a medic was taken for a CA")
	}
}
