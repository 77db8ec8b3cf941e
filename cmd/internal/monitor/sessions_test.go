package monitor

import (
	"math"
	"testing"
	"time"

	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// TestMerge_Files: a client tells all inputs how far its files are, at different moments. The latest one counts, once, and only while the
// session runs.
func TestMerge_Files(t *testing.T) {
	at := func(node string, state session.State, read, size uint64, left time.Duration) protocol.SessionInfo {
		return protocol.SessionInfo{Session: session.ID{1}, State: state, Node: node, FilesRead: read, FilesSize: size, FilesLeft: left}
	}
	first, second, silent := at("input-1", session.Running, 40, 100, 6*time.Second), at("input-2", session.Running, 50, 100, 5*time.Second),
		at("output-1", session.Running, 0, 0, 0)
	for _, found := range [][]protocol.SessionInfo{{first, second, silent}, {silent, second, first}, {second, silent, first}} {
		if all := Merge(found); len(all) != 1 || all[0].Files() != "50%, ETA 5s" {
			t.Errorf("%+v", all)
		}
	}
	if all := Merge([]protocol.SessionInfo{first, at("output-1", session.Done, 0, 0, 0)}); all[0].Files() != "" {
		t.Errorf("a session that is done: %+v", all)
	}
}

// TestFiles: the share is 100% only if everything is read, and nothing overflows.
func TestFiles(t *testing.T) {
	const most = math.MaxUint64
	for _, c := range []struct {
		read, size uint64
		left       time.Duration
		want       string
	}{
		{0, 0, time.Second, ""},
		{5, 0, time.Second, ""},
		{0, 100, 0, "0%"},
		{0, 100, 700 * time.Second, "0%, ETA 12m"},
		{999_999, 1_000_000, time.Millisecond, "99%, ETA 1s"},
		{most - 1, most, time.Second, "99%, ETA 1s"},
		{100, 100, time.Second, "100%"},
		{101, 100, time.Second, "100%"},
		{most, 1, math.MaxInt64, "100%"},
		{1, most, protocol.MaxDuration, "0%, ETA 3650d00h"},
	} {
		s := Session{FilesRead: c.read, FilesSize: c.size, FilesLeft: c.left}
		if got := s.Files(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}
