package topology

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestS1_AHostWithoutAnAddressIsWhereItIsSaidToBe: one text, read by processes, by commands beside containers, and in containers.
func TestS1_AHostWithoutAnAddressIsWhereItIsSaidToBe(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.toml")
	src, err := Generate(Variant{Ports: 7000})
	if err == nil {
		err = os.WriteFile(file, []byte(src), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	load := func(a Addresses) *Topology {
		t.Helper()
		tp, err := LoadWith(file, a)
		if err != nil {
			t.Fatal(err)
		}
		if !tp.Hosts[0].Local {
			t.Errorf("%+v: the host is not local", a)
		}
		return tp
	}
	sockets, outside, inside := load(Addresses{Local: "ipc:/run/p"}), load(Addresses{Local: Published}),
		load(Addresses{Inside: InternalAddress})
	if got := sockets.EntryPoints(); !reflect.DeepEqual(got, []string{"ipc:///run/p/input-1.client"}) {
		t.Errorf("processes: %q", got)
	}
	if got := outside.EntryPoints(); !reflect.DeepEqual(got, []string{"tcp://127.0.0.1:7002"}) ||
		!reflect.DeepEqual(got, inside.EntryPoints()) {
		t.Errorf("beside containers: %q, in them %q", got, inside.EntryPoints())
	}
	if n, err := inside.Node("joiner-2"); err != nil || n.Sockets.Data != (Endpoint{Dial: "tcp://joiner-2:7005", Bind: "tcp://0.0.0.0:7005"}) {
		t.Errorf("in a container: %+v, %v", n.Sockets.Data, err)
	}
	// Where it is is not part of what the file says: containers and sessions must not notice.
	if sockets.Canonical(nil) != outside.Canonical(nil) || sockets.Shape() != inside.Shape() ||
		strings.Contains(sockets.Canonical(nil), "address") {
		t.Errorf("the canonical text tells where the host is:\n%s", sockets.Canonical(nil))
	}
}

// TestS1_AFileThatIsOnlyLookedAtCannotBeDialled: nobody guesses an address for a host that has none.
func TestS1_AFileThatIsOnlyLookedAtCannotBeDialled(t *testing.T) {
	for _, n := range Default().All() {
		for _, e := range n.Sockets.List() {
			for _, address := range []string{e.Dial, e.Bind} {
				if path, ok := strings.CutPrefix(address, "ipc://"); !ok || filepath.IsAbs(path) {
					t.Errorf("%s of %s is %s", e.Kind, n.ID, address)
				}
			}
		}
	}
	if _, err := Default().Compose(Compose{}); !errors.Is(err, errNotOneMachine) || !strings.Contains(err.Error(), "no address yet") {
		t.Errorf("containers of a host that is nowhere: %v", err)
	}
}

// A local host beside one elsewhere would be another machine for each of them.
func TestS1_ALocalHostIsNoPartOfSeveralMachines(t *testing.T) {
	src := strings.Replace(DefaultText(), "[hosts.local]", "[hosts.far]\naddress = \"10.0.0.2\"\n[hosts.local]", 1)
	src = strings.Replace(src, `["local"]`, `["far"]`, 1)
	_, err := Parse("x.toml", []byte(src))
	if err == nil || !strings.Contains(err.Error(), `host "local" is reached only from its own machine, because it has no address`) {
		t.Errorf("got %v", err)
	}
}
