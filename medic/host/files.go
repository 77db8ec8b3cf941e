package host

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"posta.dev/posta/medic"
	"posta.dev/posta/medic/core"
)

func (h *Host) file(suffix string) string { return filepath.Join(h.dir, h.name+"."+suffix) }

// readFence reads the fence. A damaged file is an error. Taking it for an empty one was rejected, because that would admit an outdated
// leader.
func (h *Host) readFence() (f core.Fence, err error) {
	text, err := medic.ReadSlots(filepath.Join(h.dir, h.name))
	if errors.Is(err, fs.ErrNotExist) || err == nil && text == "" {
		return f, nil
	}
	if err == nil {
		var n, down int
		n, err = fmt.Sscanf(text, "generation %d down %d life %d leader %s", &f.Term.Gen, &down, &f.Term.Life, &f.Term.Leader)
		f.Down = down == 1
		if n == 3 { // nobody has led yet
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
	text := strings.TrimSpace(fmt.Sprintf("generation %d down %d life %d leader %s", f.Term.Gen, down, f.Term.Life, f.Term.Leader))
	if err := medic.WriteSlots(filepath.Join(h.dir, h.name), text, true); err != nil {
		return fmt.Errorf("write what host %s has seen: %w", h.name, err)
	}
	return nil
}

// Reserve creates the files that orders for these targets need, so that orders can be carried out on a full disk.
func (h *Host) Reserve(targets []core.NodeID) error {
	err := medic.ReserveSlots(filepath.Join(h.dir, h.name))
	for _, t := range targets {
		err = errors.Join(err, medic.ReserveSlots(h.file(string(t))))
	}
	if err != nil {
		return fmt.Errorf("reserve what orders on host %s need on the disk: %w", h.name, err)
	}
	return nil
}

// readStarted ignores a damaged note: without a note a process counts as old, and an order as new.
func (h *Host) readStarted(target core.NodeID) (s core.Started) {
	text, err := medic.ReadSlots(h.file(string(target)))
	if err != nil {
		return core.Started{}
	}
	if _, err := fmt.Sscanf(text, "started %d boot %s order %d.%d.%d verdict %d", &s.At.Since, &s.At.Boot, &s.Order.Gen, &s.Order.Life,
		&s.Order.N, &s.Verdict); err != nil {
		return core.Started{}
	}
	return s
}

// writeStarted needs no fsync, because a crash of the machine ends the process, too.
func (h *Host) writeStarted(target core.NodeID, s core.Started) error {
	boot := s.At.Boot
	if boot == "" {
		boot = "unknown"
	}
	text := fmt.Sprintf("started %d boot %s order %d.%d.%d verdict %d", s.At.Since, boot, s.Order.Gen, s.Order.Life, s.Order.N, s.Verdict)
	return medic.WriteSlots(h.file(string(target)), text, false)
}
