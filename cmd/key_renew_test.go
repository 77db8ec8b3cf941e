package cmd

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
)

// TestS6_KeysOfARunningClusterChange: a revocation takes effect at once in all processes of posta up, those that are not reached are named
// and apply it when they come back, and certificates are renewed while a session runs.
func TestS6_KeysOfARunningClusterChange(t *testing.T) {
	k := newKeyedCluster(t)
	must(t, "up", "-f", k.file)
	ask := func(who string) result { return posta(t, "sessions", "-f", k.file, "--key", k.key(who)) }
	certs := func() (ends map[string]string, medic int) {
		t.Helper()
		ends = map[string]string{}
		await.Until(t, "all nodes and medics are heard, with the ends of their certificates", func() bool {
			var s struct {
				Nodes []struct {
					Node string
					Ends string `json:"certificate_ends"`
				}
				Medics []struct {
					Medic string
					PID   int
					Ends  string `json:"certificate_ends"`
				}
			}
			r := posta(t, "status", "-f", k.file, "--json", "--key", k.key("alice"))
			if json.Unmarshal([]byte(r.out), &s) != nil {
				return false
			}
			clear(ends)
			for _, n := range s.Nodes {
				ends[n.Node] = n.Ends
			}
			for _, m := range s.Medics {
				ends[m.Medic], medic = m.Ends, m.PID
			}
			for _, end := range ends {
				if end == "" {
					return false
				}
			}
			return len(ends) > 0 && medic > 0
		})
		return ends, medic
	}
	await.Until(t, "bob is let in", func() bool { return ask("bob").code == exit.OK })
	ends, medic := certs()
	for name, end := range ends {
		if at, err := time.Parse(time.RFC3339, end); err != nil || time.Until(at) < 700*24*time.Hour {
			t.Errorf("the certificate of %s ends on %s", name, end)
		}
	}

	// Renewed while a session runs.
	id := strings.TrimSpace(must(t, "submit", "bikes", "--data", data(t, "2000"), "--key", k.key("bob"), "--detach", "-f", k.file).out)
	if r := must(t, "key", "renew", "-f", k.file); !strings.Contains(r.err, "no certificate of cluster posta ends within") {
		t.Errorf("renew with nothing to renew says %s", r.err)
	}
	if r := must(t, "key", "renew", "--within", "20000h", "-f", k.file); !strings.Contains(r.err, "made 8 certificates") ||
		!strings.Contains(r.err, "all 8 nodes and medics read it now") {
		t.Errorf("renew says %s", r.err)
	}
	await.Until(t, "the session is answered", func() bool {
		return posta(t, "results", id, "--json", "--key", k.key("bob"), "-f", k.file).code == exit.OK
	})
	if r := posta(t, "key", "renew", "--within", "0s", "-f", k.file); r.code != exit.Usage {
		t.Errorf("renew within no time: %d, %s", r.code, r.err)
	}

	// Revoked while connected, and once more.
	for range 2 {
		if r := must(t, "key", "revoke", "bob", "-f", k.file); !strings.Contains(r.err, "all 8 nodes and medics read it now") {
			t.Errorf("revoke says %s", r.err)
		}
	}
	await.Until(t, "bob is refused", func() bool { return ask("bob").code != exit.OK })
	if r := must(t, "up", "-f", k.file); !strings.Contains(r.err, "read them again") {
		t.Errorf("posta up after a revocation says %s", r.err)
	}

	// A medic is not there, is named, and applies the revocation when it comes back.
	p, err := os.FindProcess(medic)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the medic is gone, and named", func() bool {
		r := must(t, "key", "revoke", "mallory", "-f", k.file)
		return strings.Contains(r.err, "not reached: medic-1")
	})
	must(t, "up", "-f", k.file)
	if _, medic = certs(); medic == 0 {
		t.Error("the medic is not back")
	}
}
