package topology

import (
	"reflect"
	"strings"
	"testing"

	"posta.dev/posta/security"
)

const aliceKey, bobKey = "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "ed25519:BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA="

func TestS5_ClientsComeFromTheTopology(t *testing.T) {
	src := strings.Replace(DefaultText(), "[clients]",
		"[clients]\nalice = {key = \""+aliceKey+"\", role = \"operate\"}\n[clients.bob]\nrole = \"watch\"\nkey = \""+bobKey+"\"", 1)
	src = strings.NewReplacer("insecure = false", "insecure = true", `keys = "keys"`, `keys = "/etc/posta keys"`, "trust_broker = false",
		"trust_broker = true").Replace(src)
	tp := parse(t, src)
	if want := (Security{Insecure: true, Keys: "/etc/posta keys", TrustBroker: true}); tp.Security != want || tp.KeysDir != want.Keys {
		t.Errorf("got %+v and %s", tp.Security, tp.KeysDir)
	}
	want := security.Clients{aliceKey: {Role: security.Operate, Name: "alice"}, bobKey: {Role: security.Watch, Name: "bob"}}
	if got := tp.TrustedClients(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if again := parse(t, tp.Canonical(nil)); !reflect.DeepEqual(again, tp) {
		t.Errorf("the canonical text reads back as\n%+v, want\n%+v", again, tp)
	}
	other := parse(t, strings.Replace(src, aliceKey, "ed25519:"+strings.Repeat("C", 42)+"A=", 1))
	if other.Shape() != tp.Shape() || other.Canonical(nil) == tp.Canonical(nil) {
		t.Error("another client's key changes the shape, for which sessions would have to end, or is lost")
	}
	if Default().Shape() == tp.Shape() {
		t.Error("nodes with keys and without them do not understand each other, and their shape is the same")
	}
}

func TestS2_ExposedHosts(t *testing.T) {
	for _, c := range []struct {
		v       Variant
		exposed bool
	}{
		{Variant{}, false}, {Variant{IPCDir: "/run/posta"}, false}, {Variant{Address: "127.0.0.1"}, false},
		{Variant{Address: "127.3.2.1"}, false},
		{Variant{Address: "::1"}, false}, {Variant{Address: "localhost"}, false}, {Variant{Address: "posta.example", Bind: "127.0.0.1"}, false},
		{Variant{Address: "{node}"}, false},
		{Variant{Address: "127.0.0.1", Bind: "0.0.0.0"}, true}, {Variant{Address: "10.0.0.1"}, true}, {Variant{Address: "posta.example"}, true},
		{Variant{Address: "10.0.0.1", Bind: "::"}, true}, {Variant{Address: "{node}.posta.example"}, true},
	} {
		if got := variant(t, c.v).Exposed(); len(got) > 0 != c.exposed {
			t.Errorf("%+v: exposed %v, want %v", c.v, got, c.exposed)
		}
	}
	// In containers nodes listen at all addresses of theirs, and who reaches them is where their ports are published.
	for text, exposed := range map[string]bool{DefaultText(): false, twoHosts: true} {
		tp, err := parseAs("t.toml", []byte(text), Addresses{Inside: InternalAddress})
		if err != nil || len(tp.Exposed()) > 0 != exposed {
			t.Errorf("in containers: exposed %v, want %v, %v", tp.Exposed(), exposed, err)
		}
	}
}
