package protocol

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// decoder reads a frame; the first error sticks, be it one of msgpack or of a limit.
type decoder struct {
	wire.Reader
	frame    []byte
	laneSaid bool // lane 0 was said, rather than nothing
	bad      error
}

func newDecoder(frame []byte) decoder {
	return decoder{Reader: wire.NewReader(frame), frame: frame}
}

// peek returns the next type byte without taking it; at the end, one that fails when it is read.
func (d *decoder) peek() byte {
	if d.Len() == 0 {
		return 0xc1
	}
	return d.frame[len(d.frame)-d.Len()]
}

// raw passes over one value and returns its bytes as a view.
func (d *decoder) raw(depth int) []byte {
	start := len(d.frame) - d.Len()
	d.Skip(depth)
	return d.frame[start : len(d.frame)-d.Len()]
}

func (d *decoder) ok() bool { return d.bad == nil && d.Err() == nil }

func (d *decoder) fail(format string, args ...any) {
	if d.ok() {
		d.bad = fmt.Errorf(format, args...)
	}
}

// done returns the first error, wrapped for the caller of a Decode function.
func (d *decoder) done() error {
	if err := errors.Join(d.bad, d.Done()); err != nil {
		if d.bad != nil {
			err = d.bad
		}
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// fields calls each for every key of a map; it must consume the value.
func (d *decoder) fields(each func(key []byte)) {
	for n := d.Map(); n > 0 && d.ok(); n-- {
		key := d.Bytes()
		if d.ok() {
			each(key)
		}
	}
}

// list calls each for every element of an array of at most limit.
func (d *decoder) list(what string, limit int, each func()) {
	n := d.Array()
	if n > limit {
		d.fail("%d %s; at most %d are taken", n, what, limit)
	}
	for ; n > 0 && d.ok(); n-- {
		each()
	}
}

// view returns bytes of the frame itself.
func (d *decoder) view(what string, limit int) []byte {
	p := d.Bytes()
	if len(p) > limit {
		d.fail("%s of %d bytes; at most %d are taken", what, len(p), limit)
		return nil
	}
	return p
}

func (d *decoder) text(what string, limit int) string { return string(d.view(what, limit)) }

func (d *decoder) texts(what string, count, limit int) (list []string) {
	d.list(what, count, func() { list = append(list, d.text(what, limit)) })
	return list
}

func (d *decoder) below(what string, limit uint64) uint64 {
	v := d.Uint()
	if v >= limit {
		d.fail("%s is %d; it must be below %d", what, v, limit)
		return 0
	}
	return v
}

// millis reads milliseconds; more than limit counts as limit.
func (d *decoder) millis(limit time.Duration) time.Duration {
	return time.Duration(min(d.Uint(), uint64(limit.Milliseconds()))) * time.Millisecond
}

func (d *decoder) session() (id session.ID) {
	text := d.view("session", MaxName)
	if !d.ok() {
		return id
	}
	id, err := session.Parse(string(text))
	if err != nil {
		d.fail("%w", err)
	}
	return id
}

func (d *decoder) lanes() (lanes []LaneSeq) {
	d.list("lanes", MaxLanes, func() {
		d.ArrayOf(2)
		lane := d.below("lane", MaxLanes)
		lanes = append(lanes, LaneSeq{Lane: uint32(lane), Seq: d.Uint()})
	})
	return lanes
}

func (d *decoder) version() {
	if v := d.Uint(); d.ok() && v != Version {
		d.fail("version %d; this program speaks version %d", v, Version)
	}
}
