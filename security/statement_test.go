package security_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/security"
	"posta.dev/posta/test/keytest"
)

// TestS3_Statements: a statement is believed if it is whole, for this purpose, of this cluster, and of a process that is trusted now.
func TestS3_Statements(t *testing.T) {
	ring, other := keytest.New(t, "posta"), keytest.New(t, "posta")
	alice := security.Identity{Role: security.Operate, Name: "alice"}
	medic, second := security.Identity{Role: security.Medic, Name: "medic-1"}, security.Identity{Role: security.Medic, Name: "medic-2"}
	user := ring.Client(t, alice)
	ring.Make(t, medic, time.Now())
	ring.Make(t, second, time.Now())
	other.Make(t, second, time.Now())
	verifier := ring.Load(t, medic)
	sign := func(k *security.Keys, purpose, text string) []byte {
		t.Helper()
		s, err := k.Sign(purpose, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	good := sign(user, "login", "hello")
	text, by, key, err := verifier.Verify("login", good)
	if err != nil || string(text) != "hello" || by != alice {
		t.Fatalf("%q by %v, %v", text, by, err)
	}
	if id, in := verifier.ClientOf(key); !in || id != alice {
		t.Errorf("its key is of %v, %v", id, in)
	}
	if text, by, _, err := verifier.Verify("login", sign(ring.Load(t, second), "login", "")); err != nil || by != second || len(text) != 0 {
		t.Errorf("a medic's: %q by %v, %v", text, by, err)
	}
	change := func(do func(*security.Statement)) []byte {
		var s security.Statement
		if err := json.Unmarshal(good, &s); err != nil {
			t.Fatal(err)
		}
		do(&s)
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	stranger, err := security.NewClient("posta", "alice", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"nothing": nil, "rubbish": []byte("{"), "half": good[:len(good)/2],
		"another purpose": sign(user, "pass", "hello"),
		"another text":    change(func(s *security.Statement) { s.Text = []byte("hellO") }),
		"no signature":    change(func(s *security.Statement) { s.Signature = nil }),
		"no certificate":  change(func(s *security.Statement) { s.Certificate = nil }),
		"a relabelled one": change(func(s *security.Statement) {
			var pass security.Statement
			if err := json.Unmarshal(sign(user, "pass", "hello"), &pass); err != nil {
				t.Fatal(err)
			}
			s.Signature = pass.Signature
		}),
		"the certificate of a stranger": change(func(s *security.Statement) { s.Certificate = stranger.Certificate }),
		"a medic of another CA":         sign(other.Load(t, second), "login", "hello"),
		"too long":                      sign(user, "login", strings.Repeat("x", 9<<10)),
	} {
		if text, by, _, err := verifier.Verify("login", bad); err == nil || text != nil || by != (security.Identity{}) {
			t.Errorf("%s: %q by %v, %v", name, text, by, err)
		}
	}
	if again := sign(user, "login", "hello"); !bytes.Equal(again, good) {
		t.Error("a signature depends on chance")
	}
	ring.Revoke(t, medic, alice)
	if err := verifier.Reload(); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := verifier.Verify("login", good); !errors.Is(err, security.ErrRevoked) {
		t.Errorf("of a revoked key: %v", err)
	}
	if _, in := verifier.ClientOf(key); in {
		t.Error("a revoked client is let in")
	}
}
