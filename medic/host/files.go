package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

func (h *Host) file(suffix string) string { return filepath.Join(h.dir, h.name+"."+suffix) }

// readFence reads what the host has seen. A file that makes no sense is an error and no clean slate: it would let an old leader in.
func (h *Host) readFence() (f core.Fence, err error) {
	b, err := os.ReadFile(filepath.Join(h.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err == nil {
		var n, down int
		n, err = fmt.Sscanf(string(b), "generation %d down %d leader %s", &f.Term.Gen, &down, &f.Term.Leader)
		f.Down = down == 1
		if n == 2 { // nobody has led yet
			err = nil
		}
	}
	if err != nil {
		return f, fmt.Errorf("read what host %s has seen: %w; if the file is damaged, stop all medics of the host and remove it", h.name, err)
	}
	return f, nil
}

// writeFence is durable when it returns (M4).
func (h *Host) writeFence(f core.Fence) error {
	down := 0
	if f.Down {
		down = 1
	}
	text := fmt.Sprintf("generation %d down %d leader %s\n", f.Term.Gen, down, f.Term.Leader)
	if err := medic.ReplaceFile(filepath.Join(h.dir, h.name), text, true); err != nil {
		return fmt.Errorf("write what host %s has seen: %w", h.name, err)
	}
	return nil
}

// readStarted takes a note that makes no sense for none: a process then counts as old, and an order as new.
func (h *Host) readStarted(target core.NodeID) (s core.Started) {
	b, err := os.ReadFile(h.file(string(target)))
	if err != nil {
		return core.Started{}
	}
	var at int64
	if _, err := fmt.Sscanf(string(b), "%d order %d.%d verdict %d", &at, &s.Order.Gen, &s.Order.N, &s.Verdict); err != nil {
		return core.Started{}
	}
	s.At = time.Unix(0, at)
	return s
}

// writeStarted needs no fsync: a crash of the machine ends the process, too.
func (h *Host) writeStarted(target core.NodeID, s core.Started) error {
	text := fmt.Sprintf("%d order %d.%d verdict %d\n", s.At.UnixNano(), s.Order.Gen, s.Order.N, s.Verdict)
	return medic.ReplaceFile(h.file(string(target)), text, false)
}
