package output

import (
	"slices"
	"testing"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/nodes/role"
)

// TestR16_FilesOfAnAnswerAreToldOfOnce: when they are to be saved, and when they are given up. What is too small for a file is in none of
// them.
func TestR16_FilesOfAnAnswerAreToldOfOnce(t *testing.T) {
	o, h := small(t)
	long(t, o, h, 2000)
	r := o.results[id]
	r.file(make([]byte, o.FileBytes/smallFile-1), o.FileBytes)
	r.file(make([]byte, o.FileBytes), o.FileBytes)
	if files := o.Unsaved(); len(files) != 1 || len(files[0].Parts[0]) != o.FileBytes {
		t.Fatalf("%d files are to be saved: %+v", len(files), files)
	}
	h.Save()
	if files := o.Unsaved(); len(files) > 0 {
		t.Errorf("%d files are to be saved again", len(files))
	}
	want := o.Files()
	o.Forget(id, role.Asker{Identity: role.LocalOperator})
	got := o.Dropped()
	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("%d files are given up, want %d", len(got), len(want))
	}
	if again := o.Dropped(); len(again) > 0 {
		t.Errorf("%d files are given up twice", len(again))
	}
}

// TestR16_AllOfAnAnswerInMemoryCounts, also after a snapshot.
func TestR16_AllOfAnAnswerInMemoryCounts(t *testing.T) {
	const fileBytes = 640
	r := &result{}
	r.tail = make([]byte, 7)
	r.sorted = []*sorted{{query: "a", pending: make([]byte, 5)}, {query: "b", pending: make([]byte, 30)}}
	r.file(make([]byte, 9), fileBytes)
	r.file(make([]byte, 700), fileBytes)
	r.size = 1000
	for _, content := range []bool{false, true} {
		again := &rows{}
		d := wire.NewReader(r.rows.append(nil, content))
		again.restore(&d, fileBytes)
		want := uint64(7 + 5 + 30 + 9)
		if content {
			want += 700
		}
		if got := again.inMemory(); d.Done() != nil || got != want || again.size != 1000 || r.inMemory() != 751 {
			t.Errorf("with the content of files %v: %d bytes are in memory, want %d; %d in all; before it were %d; %v", content, got, want,
				again.size, r.inMemory(), d.Done())
		}
	}
}
