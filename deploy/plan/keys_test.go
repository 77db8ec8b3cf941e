package plan

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestS6_NewKeysNeedNoNewContainers: a container's spec names the directory of its keys, and does not depend on the
// keys in it.
func TestS6_NewKeysNeedNoNewContainers(t *testing.T) {
	one, two := variant{medics: 2, keys: "one"}.want(t), variant{medics: 2, keys: "two"}.want(t)
	for i, u := range one.Units {
		if u.Hash != two.Units[i].Hash || u.Keys == two.Units[i].Keys {
			t.Errorf("%s: spec %s with keys %q, and %s with %q", u.Name, u.Hash, u.Keys, two.Units[i].Hash, two.Units[i].Keys)
		}
		dir := ""
		for _, e := range u.Spec.Env {
			if value, ok := strings.CutPrefix(e, EnvKeys+"="); ok {
				dir = value
			}
		}
		if !slices.ContainsFunc(u.Spec.Mounts, func(m Mount) bool {
			return m.Volume == VolumeName("posta", u.Name) && dir == path.Join(m.Target, KeysName)
		}) {
			t.Errorf("%s has its keys in %q, which is not in its volume", u.Name, dir)
		}
		if all := fmt.Sprint(u.Spec); strings.Contains(all, u.Keys) {
			t.Errorf("the digest of keys is in the spec of %s", u.Name)
		}
	}
	if plain := (variant{medics: 2}).want(t); plain.Shape == one.Shape {
		t.Error("nodes with keys and nodes without are to run side by side")
	}
}

// TestS6_PlainEnginesGetNoKeys: others on the network could read them on their way.
func TestS6_PlainEnginesGetNoKeys(t *testing.T) {
	w := newWorld(t, twoHosts)
	w.engine("b").Plain = true
	if _, err := Make(variant{medics: 2, keys: "one"}.want(t), w.observed()); !errors.Is(err, ErrRefused) ||
		!strings.Contains(err.Error(), `host "b"`) || !strings.Contains(err.Error(), "engine = \"ssh://") ||
		!strings.Contains(err.Error(), "[hosts.b]") || !strings.Contains(err.Error(), "insecure = true below [security]") {
		t.Errorf("keys are sent to a plain engine: %v", err)
	}
	if _, err := Make(variant{medics: 2}.want(t), w.observed()); err != nil {
		t.Errorf("without keys: %v", err)
	}
}

// TestS6_UnreadKeysAreBroughtAgain: a deploy that ended before a unit was told about its keys leaves no note, and the next one brings them
// again.
func TestS6_UnreadKeysAreBroughtAgain(t *testing.T) {
	w := newWorld(t, twoHosts)
	w.carryOut(variant{medics: 2, keys: "one"}.want(t), -1)
	two := variant{medics: 2, keys: "two"}.want(t)
	w.carryOut(two, 0) // the keys of input-1 are in its volume, and input-1 has not read them
	p, err := Make(two, w.observed())
	if err != nil {
		t.Fatal(err)
	}
	if p.Kind != NewKeys || p.Steps[0].Do != CarryKeys || p.Steps[0].Unit != "input-1" {
		t.Errorf("%s: %v", p.Kind, p.Steps)
	}
	w.carryOut(two, -1)
}

// TestS6_UndeployLeavesNoKeys: with the volumes it removes the keys and all notes about them.
func TestS6_UndeployLeavesNoKeys(t *testing.T) {
	w := newWorld(t, twoHosts)
	w.carryOut(variant{medics: 2, keys: "one"}.want(t), -1)
	e := w.engine("a")
	e.Keys = append(e.Keys, KeysNote{Volume: "posta-gone-1", Digest: "x"}) // its volume was removed by hand
	p := TakeDown(variant{medics: 2}.want(t), w.observed(), true)
	removed := func(note string) bool { return contains(p.Steps, RemoveHelper, note) }
	for _, e := range w.engines {
		for _, n := range e.Keys {
			if !contains(p.Steps, DeleteVolume, n.Volume) && !removed(KeysNoteName(n.Volume)) {
				t.Errorf("the note of the keys in %s stays", n.Volume)
			}
		}
	}
	if !removed("posta-gone-1-keys") {
		t.Error("the note of a volume that is gone stays")
	}
}
