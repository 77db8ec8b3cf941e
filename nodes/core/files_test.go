package core

import (
	"slices"
	"testing"

	"posta.dev/posta/nodes/role"
)

// filer is a role that keeps one file, and gives up another one.
type filer struct {
	*adder
	name    string
	saved   bool
	dropped []string
}

func (f *filer) Unsaved() []role.File {
	if f.saved {
		return nil
	}
	return []role.File{{Name: f.name}}
}

func (f *filer) Saved(files []role.File) {
	f.saved = f.saved || slices.ContainsFunc(files, func(x role.File) bool { return x.Name == f.name })
}

func (f *filer) Dropped() []string {
	names := f.dropped
	f.dropped = nil
	return names
}

func (f *filer) Files() []string { return []string{f.name} }

// TestN3_FilesOfEachRoleOfAChain are saved, kept and removed, and each is named once.
func TestN3_FilesOfEachRoleOfAChain(t *testing.T) {
	d := newDriver(t, 1, "hash")
	one, two := &filer{adder: newAdder(), name: "one", dropped: []string{"former one"}},
		&filer{adder: newAdder(), name: "two", dropped: []string{"former two"}}
	d.c.cfg.Roles = []role.Role{one, newAdder(), two}
	files := d.c.Unsaved()
	if got := d.c.Files(); !slices.Equal(got, []string{"one", "two"}) || len(files) != 2 {
		t.Fatalf("%v are needed, and %v not saved", got, files)
	}
	if got := d.c.Dropped(); !slices.Equal(got, []string{"former one", "former two"}) {
		t.Errorf("%v are not needed any more", got)
	}
	if got := d.c.Dropped(); len(got) > 0 {
		t.Errorf("%v are named twice", got)
	}
	if d.c.Saved(files[1:]); one.saved || !two.saved || len(d.c.Unsaved()) != 1 {
		t.Error("of two files the second one is saved")
	}
	if d.c.Saved(files[:1]); !one.saved || len(d.c.Unsaved()) != 0 {
		t.Error("both files are saved")
	}
}
