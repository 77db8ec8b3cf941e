package security

import (
	"strings"
	"testing"
)

func TestS3_Names(t *testing.T) {
	long := strings.Repeat("a", 63)
	for _, good := range []string{"posta://posta/node/joiner-1", "posta://c/medic/1", "posta://posta/client/alice",
		"posta://" + long + "/node/" + long} {
		cluster, id, err := parseURI(good)
		if err != nil || id.uri(cluster) != good {
			t.Errorf("%s: %v of %q, %v", good, id, cluster, err)
		}
	}
	for _, bad := range []string{
		"", "posta", "posta:", "posta://", "posta://posta", "posta://posta/", "posta://posta/node", "posta://posta/node/", "posta:///node/a",
		"posta://posta//a",
		"POSTA://posta/node/a", "http://posta/node/a", "posta://posta/node/a/", "posta://posta/node/a/b", "posta://posta/node/A",
		"posta://posta/node/a_b",
		"posta://posta/node/-a", "posta://posta/node/a-", "posta://posta/node/%61", "posta://posta/node/a?", "posta://posta/node/a?b=c",
		"posta://posta/node/a#",
		"posta://user@posta/node/a", "posta://posta:80/node/a", "posta://posta/node/a\n", " posta://posta/node/a", "posta://posta/node/a\x00",
		"posta://posta/submit/a",
		"posta://posta/operate/a", "posta://posta/Node/a", "posta://posta/stage/a", "posta://posta/node/" + long + "a", "posta://posta/node/ä",
		"posta://posta/node/..",
	} {
		if cluster, id, err := parseURI(bad); err == nil {
			t.Errorf("%q is taken for %v of %q", bad, id, cluster)
		}
	}
}

// TestS5_ACertificateDoesNotSayWhatAClientMayDo: the role stands in [clients] alone.
func TestS5_ACertificateDoesNotSayWhatAClientMayDo(t *testing.T) {
	for _, role := range []Role{Submit, Watch, Operate} {
		if uri := (Identity{role, "alice"}).uri("posta"); uri != "posta://posta/client/alice" {
			t.Error(uri)
		}
		if got, err := ParseClientRole(string(role)); err != nil || got != role {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, bad := range []string{"", "node", "medic", "client", "admin", "Submit"} {
		if got, err := ParseClientRole(bad); err == nil {
			t.Errorf("%q is taken for the role %s", bad, got)
		}
	}
}

func TestIdentity_ComesOutAsItWentIn(t *testing.T) {
	for _, role := range []Role{Node, Medic, Submit, Watch, Operate, Client} {
		id := Identity{role, "a-1"}
		if got, err := ParseIdentity(id.String()); err != nil || got != id {
			t.Errorf("%v, %v", got, err)
		}
	}
	for _, bad := range []string{"", "node", "node/", "/a", "node/a/b", "node/A", "root/a", "a"} {
		if got, err := ParseIdentity(bad); err == nil {
			t.Errorf("%q is taken for %v", bad, got)
		}
	}
}

func TestFingerprint(t *testing.T) {
	f := must[Key](t)(NewKey()).Fingerprint()
	if got, err := ParseFingerprint(string(f)); err != nil || got != f {
		t.Errorf("%v, %v", got, err)
	}
	text := string(f)
	for _, bad := range []string{
		"", "ed25519:", text[8:], text[:len(text)-1], text + "=", text + "\n", " " + text, "rsa:" + text[8:], "ed25519:AAAA",
		text[:20] + "\n" + text[20:], "ed25519:" + strings.Repeat("A", 42) + "B=", // the last one has bits behind the key
	} {
		if got, err := ParseFingerprint(bad); err == nil {
			t.Errorf("%q is taken for %s", bad, got)
		}
	}
}
