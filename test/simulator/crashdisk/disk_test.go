package crashdisk

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// write puts content into a file, durably or not.
func write(t *testing.T, d *Disk, name, content string, synced bool) {
	t.Helper()
	f, err := d.OpenFile(name, os.O_CREATE|os.O_APPEND)
	if err == nil {
		_, err = f.Write([]byte(content))
	}
	if err == nil && synced {
		err = errors.Join(f.Sync(), d.SyncDir("dir"))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func content(d *Disk, name string) string {
	b, err := d.ReadFile(name)
	if err != nil {
		return "missing"
	}
	return string(b)
}

// TestWhatWasSyncedSurvives: nothing else is certain to survive.
func TestWhatWasSyncedSurvives(t *testing.T) {
	d := New()
	if err := errors.Join(d.Mkdir("dir"), d.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	write(t, d, "dir/a", "synced", true)
	write(t, d, "dir/a", " and not", false)
	write(t, d, "dir/b", "b", false)
	if err := d.Rename("dir/a", "dir/c"); err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		o       Outcome
		a, b, c string
	}{
		{Lost, "synced", "missing", "missing"},
		{Kept, "missing", "b", "synced and not"},
	} {
		after := d.Crash(x.o, nil)
		if a, b, c := content(after, "dir/a"), content(after, "dir/b"), content(after, "dir/c"); a != x.a || b != x.b || c != x.c {
			t.Errorf("%s: a %q, b %q, c %q", x.o, a, b, c)
		}
	}
	seen := map[string]bool{}
	for seed := range uint64(200) {
		after := d.Crash(Torn, rand.New(rand.NewPCG(seed, 1)))
		for _, name := range []string{"dir/a", "dir/c"} {
			got := content(after, name)
			if seen[got] = true; got != "missing" && !strings.HasPrefix(got, "synced") {
				t.Fatalf("seed %d: %s has %q", seed, name, got)
			}
		}
	}
	for _, want := range []string{"missing", "synced", "synced and not", "synced\x00\x00\x00\x00\x00\x00\x00\x00", "synced an"} {
		if !seen[want] {
			t.Errorf("%q never comes: %v", want, seen)
		}
	}
}

// TestFault: a step that fails changes nothing, except that half of a write may happen.
func TestFault(t *testing.T) {
	d := New()
	if err := errors.Join(d.Mkdir("dir"), d.SyncDir(".")); err != nil {
		t.Fatal(err)
	}
	write(t, d, "dir/a", "old", true)
	f, err := d.OpenFile("dir/a", os.O_APPEND)
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	for _, half := range []bool{false, true} {
		d.Fault = func(string, string) (bool, error) { return half, broken }
		_, err := f.Write([]byte("1234"))
		want := map[bool]string{false: "old", true: "old12"}[half]
		if !errors.Is(err, broken) || content(d, "dir/a") != want {
			t.Errorf("half %v: %v, and the file has %q", half, err, content(d, "dir/a"))
		}
		for op, err := range map[string]error{
			"mkdir": d.Mkdir("x"), "remove": d.Remove("dir/a"), "rename": d.Rename("dir/a", "dir/b"), "sync": f.Sync(), "syncdir": d.SyncDir("dir"),
			"truncate": f.Truncate(0),
		} {
			if !errors.Is(err, broken) || content(d, "dir/a") != want {
				t.Errorf("%s: %v, and the file has %q", op, err, content(d, "dir/a"))
			}
		}
	}
	d.Fault = nil
	if got := content(d.Crash(Lost, nil), "dir/a"); got != "old" {
		t.Errorf("a sync that failed has synced %q", got)
	}
}

// TestCopiesAreApart: writing to one disk does not change the other, although they share bytes.
func TestCopiesAreApart(t *testing.T) {
	d := New()
	if err := d.Mkdir("dir"); err != nil {
		t.Fatal(err)
	}
	write(t, d, "dir/a", "common", true)
	c := d.Clone()
	write(t, d, "dir/a", " one", false)
	write(t, c, "dir/a", " two", false)
	if err := c.Flip("dir/a", 0); err != nil {
		t.Fatal(err)
	}
	if a, b := content(d, "dir/a"), content(c, "dir/a"); a != "common one" || b != "bommon two" {
		t.Errorf("%q and %q", a, b)
	}
}

func TestErrorsAreThoseOfPackageFS(t *testing.T) {
	d := New()
	if err := errors.Join(d.Mkdir("dir"), d.Mkdir("dir/sub")); err != nil {
		t.Fatal(err)
	}
	_, open := d.OpenFile("dir/none", 0)
	_, read := d.ReadFile("none/none")
	_, list := d.ReadDir("none")
	for what, x := range map[string]struct{ got, want error }{
		"mkdir twice": {d.Mkdir("dir"), fs.ErrExist}, "mkdir below nothing": {d.Mkdir("none/x"), fs.ErrNotExist}, "open": {open, fs.ErrNotExist},
		"read": {read, fs.ErrNotExist}, "list": {list, fs.ErrNotExist}, "remove": {d.Remove("none"), fs.ErrNotExist},
		"remove what is not empty": {d.Remove("dir"), fs.ErrExist}, "rename": {d.Rename("none", "x"), fs.ErrNotExist},
		"sync": {d.SyncDir("none"), fs.ErrNotExist},
	} {
		if !errors.Is(x.got, x.want) {
			t.Errorf("%s: %v, want %v", what, x.got, x.want)
		}
	}
	one, ok := d.Lock("dir")
	if _, twice := d.Lock("dir/"); !ok || twice {
		t.Error("a lock is taken twice, or not at all")
	}
	if _, again := d.Lock("dir"); one.Close() != nil || again {
		t.Error("a lock is not freed")
	}
	if _, again := d.Lock("dir"); !again {
		t.Error("a lock that was freed cannot be taken")
	}
}
