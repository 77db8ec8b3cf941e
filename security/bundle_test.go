package security

import (
	"archive/tar"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var joiner1 = Identity{Node, "joiner-1"}

// bundle is joiner-1's keys, and the directory that they are from.
func bundle(t *testing.T) (Bundle, string) {
	t.Helper()
	c := newCluster(t)
	c.keys(t, Node, "joiner-1")
	dir := c.dir(joiner1)
	noError(t, Revoke(dir, c.alice.Key.Fingerprint(), "alice"))
	return must[Bundle](t)(ReadBundle(dir, "posta", joiner1, "")), dir
}

func archived(t *testing.T, b Bundle) *bytes.Buffer {
	t.Helper()
	var archive bytes.Buffer
	must[int64](t)(b.WriteTo(&archive))
	return &archive
}

// TestS6_KeysAreCarried: what is installed is what was packed, for its user alone, over what was there before too.
func TestS6_KeysAreCarried(t *testing.T) {
	b, from := bundle(t)
	to := filepath.Join(t.TempDir(), "keys")
	noError(t, os.Mkdir(to+".new", 0o700)) // an installation that was interrupted
	noError(t, os.WriteFile(filepath.Join(to+".new", "rest"), nil, 0o600))
	for range 2 {
		noError(t, Install(to, archived(t, b)))
		for _, name := range bundled[:len(bundled)-1] {
			want, got := must[[]byte](t)(os.ReadFile(filepath.Join(from, name))), must[[]byte](t)(os.ReadFile(filepath.Join(to, name)))
			if !bytes.Equal(want, got) {
				t.Errorf("%s is another one", name)
			}
			if m := must[os.FileInfo](t)(os.Stat(filepath.Join(to, name))).Mode(); m != 0o600 {
				t.Errorf("%s has the mode %v", name, m)
			}
		}
		if m := must[os.FileInfo](t)(os.Stat(to)).Mode(); m.Perm() != 0o700 {
			t.Errorf("the directory has the mode %v", m)
		}
		if left := must[[]string](t)(filepath.Glob(to + "*")); !slices.Equal(left, []string{to}) {
			t.Errorf("%v are left", left)
		}
	}
	must[*Keys](t)(Load(to, "posta", nil))
}

// TestS6_ABundlesDigest: it changes with everything that a process has to hear of.
func TestS6_ABundlesDigest(t *testing.T) {
	c := newCluster(t)
	c.keys(t, Node, "joiner-1")
	dir := c.dir(joiner1)
	seen := map[string]string{}
	for _, step := range []struct {
		name string
		do   func()
	}{
		{"first", func() {}},
		{"a revoked key", func() { noError(t, Revoke(dir, c.alice.Key.Fingerprint(), "")) }},
		{"a second CA", func() {
			noError(t, WriteCAs(dir, c.ca.Certificate(), must[*CA](t)(NewCA("posta", time.Now())).Certificate()))
		}},
		{"another certificate", func() { noError(t, WritePair(dir, must[Pair](t)(c.ca.Issue(joiner1, time.Now())))) }},
	} {
		step.do()
		d := must[Bundle](t)(ReadBundle(dir, "posta", joiner1, "")).Digest()
		if before := seen[d]; before != "" {
			t.Errorf("%s has the digest of %s", step.name, before)
		}
		seen[d] = step.name
		if again := must[Bundle](t)(ReadBundle(dir, "posta", joiner1, "")).Digest(); again != d {
			t.Errorf("%s: %s, then %s", step.name, d, again)
		}
	}
}

func TestS6_ABundleIsNeverPrinted(t *testing.T) {
	b, dir := bundle(t)
	text := must[[]byte](t)(os.ReadFile(filepath.Join(dir, keyFile)))
	_, secret, _ := strings.Cut(string(text), "\n")
	secret, _, _ = strings.Cut(secret, "\n")
	raw := must[[]byte](t)(base64.StdEncoding.DecodeString(secret))
	var out bytes.Buffer
	for _, v := range []any{b, &b, []any{b}, map[string]Bundle{"joiner-1": b}, struct{ B Bundle }{b}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		out.Write(must[[]byte](t)(json.Marshal(v)))
	}
	for _, s := range []string{secret, string(raw[20:]), fmt.Sprintf("%x", raw[20:]), fmt.Sprintf("%x", secret)} {
		if strings.Contains(out.String(), s) {
			t.Errorf("the key came out: %.200s", out.String())
		}
	}
	if !strings.Contains(archived(t, b).String(), secret) {
		t.Error("the key is not in the archive, so this test finds nothing")
	}
}

// TestS6_BadBundles: whoever installs one keeps what was there.
func TestS6_BadBundles(t *testing.T) {
	good, from := bundle(t)
	to := filepath.Join(t.TempDir(), "keys")
	noError(t, Install(to, archived(t, good)))
	other, _ := bundle(t)
	file := func(b Bundle, name string) []byte {
		r := tar.NewReader(archived(t, b))
		for {
			h := must[*tar.Header](t)(r.Next())
			if h.Name == name {
				text := make([]byte, h.Size)
				_, _ = r.Read(text)
				return text
			}
		}
	}
	pack := func(kind byte, files ...string) *bytes.Buffer {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for i := 0; i < len(files); i += 2 {
			noError(t, w.WriteHeader(&tar.Header{Typeflag: kind, Name: files[i], Size: int64(len(files[i+1])), Mode: 0o600}))
			if kind == tar.TypeReg {
				must[int](t)(w.Write([]byte(files[i+1])))
			}
		}
		noError(t, w.Close())
		return &b
	}
	key, cert, ca := string(file(good, keyFile)), string(file(good, certificateFile)), string(file(good, caFile))
	for name, archive := range map[string]*bytes.Buffer{
		"no archive":             bytes.NewBufferString("keys"),
		"nothing":                pack(tar.TypeReg),
		"no CA":                  pack(tar.TypeReg, keyFile, key, certificateFile, cert),
		"another's certificate":  pack(tar.TypeReg, keyFile, key, certificateFile, string(file(other, certificateFile)), caFile, ca),
		"a CA that is none":      pack(tar.TypeReg, keyFile, key, certificateFile, cert, caFile, cert+cert),
		"a bad list":             pack(tar.TypeReg, keyFile, key, certificateFile, cert, caFile, ca, revokedFile, "alice\n"),
		"a file of another name": pack(tar.TypeReg, keyFile, key, certificateFile, cert, caFile, ca, "other", ""),
		"a file twice":           pack(tar.TypeReg, keyFile, key, certificateFile, cert, caFile, ca, keyFile, key),
		"a link":                 pack(tar.TypeSymlink, keyFile, ""),
		"a huge file":            pack(tar.TypeReg, revokedFile, strings.Repeat("#", maxFile+1)),
	} {
		if err := Install(to, archive); err == nil {
			t.Errorf("%s is installed", name)
		}
		for _, f := range bundled[:len(bundled)-1] {
			if !bytes.Equal(must[[]byte](t)(os.ReadFile(filepath.Join(from, f))), must[[]byte](t)(os.ReadFile(filepath.Join(to, f)))) {
				t.Fatalf("%s: %s has changed", name, f)
			}
		}
		if left := must[[]string](t)(filepath.Glob(to + "*")); !slices.Equal(left, []string{to}) {
			t.Fatalf("%s: %v are left", name, left)
		}
	}
	for _, c := range []struct {
		cluster string
		id      Identity
	}{{"other", joiner1}, {"posta", Identity{Node, "joiner-2"}}} {
		if _, err := ReadBundle(from, c.cluster, c.id, ""); !errors.Is(err, ErrUntrusted) {
			t.Errorf("keys of joiner-1 in posta are taken for those of %v in %s: %v", c.id, c.cluster, err)
		}
	}
}

// A program called tar writes archives too: with a directory, and names that begin with it.
func TestInstall_AnArchiveOfADirectory(t *testing.T) {
	_, from := bundle(t)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	noError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "./", Mode: 0o700}))
	for _, name := range []string{certificateFile, keyFile, caFile} {
		text := must[[]byte](t)(os.ReadFile(filepath.Join(from, name)))
		noError(t, w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "./" + name, Size: int64(len(text)), Mode: 0o640}))
		must[int](t)(w.Write(text))
	}
	noError(t, w.Close())
	to := filepath.Join(t.TempDir(), "keys")
	noError(t, Install(to, &b))
	must[*Keys](t)(Load(to, "posta", nil))
}
