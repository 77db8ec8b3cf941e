package protocol

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// decoder reads a frame. It keeps the first error, whether it is about msgpack or about a limit.
type decoder struct {
	wire.Reader
	frame     []byte
	versioned bool // the frame has a version
	hasLane   bool // the frame has a lane, which may be 0
	hasStamp  bool // the frame has a stamp
	bad       error
}

func newDecoder(frame []byte) decoder {
	return decoder{Reader: wire.NewReader(frame), frame: frame}
}

// peek returns the next type byte without reading it. At the end it returns a byte that fails when it is read.
func (d *decoder) peek() byte {
	if d.Len() == 0 {
		return 0xc1
	}
	return d.frame[len(d.frame)-d.Len()]
}

// raw skips one value and returns its bytes as a view.
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

// message reads one map into m. Keys that m does not describe are skipped.
func (d *decoder) message(m message) {
	c := codec{d: d}
	for n := d.Map(); n > 0 && d.ok(); n-- {
		if c.key, c.taken = d.Bytes(), false; !d.ok() {
			return
		}
		if m.fields(&c); !c.taken {
			d.Skip(maxDepth)
		}
	}
}

// whole reads the whole frame into m, which is a request or a reply.
func (d *decoder) whole(m message) {
	d.message(m)
	if !d.versioned {
		d.fail(`no "v" (the version of the protocol, %d)`, Version)
	}
}

// names calls each for every entry of a map whose keys are names. each must read the value.
func (d *decoder) names(what string, count int, each func(name string)) {
	for n, i := d.Map(), 0; i < n && d.ok(); i++ {
		key := d.Bytes()
		if len(key) > MaxName || i >= count {
			d.fail("%s %.40q: names are at most %d bytes, and there are at most %d", what, key, MaxName, count)
		}
		if d.ok() {
			each(string(key))
		}
	}
}

// list calls each for every element of an array with at most limit elements.
func (d *decoder) list(what string, limit int, each func()) {
	n := d.Array()
	if n > limit {
		d.fail("%d %s; at most %d are taken", n, what, limit)
	}
	for ; n > 0 && d.ok(); n-- {
		each()
	}
}

// view returns bytes of the frame without copying them.
func (d *decoder) view(what string, limit int) []byte {
	p := d.Bytes()
	if len(p) > limit {
		d.fail("%s of %d bytes; at most %d are taken", what, len(p), limit)
		return nil
	}
	return p
}

func (d *decoder) text(what string, limit int) string { return string(d.view(what, limit)) }

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

func (d *decoder) openers(what string) session.Openers {
	o, ok := session.ReadOpeners(d.Bytes())
	if d.ok() && !ok {
		d.fail("%s that are not at most %d different hashes of %d bytes", what, session.MaxOpeners, len(session.TokenHash{}))
	}
	return o
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
	d.versioned = true
	if v := d.Uint(); d.ok() && v != Version {
		d.fail("version %d of the client protocol; this program speaks version %d: client and cluster must be of one version", v, Version)
	}
}

func (d *decoder) comma() byte {
	p := d.view("comma", 1)
	if len(p) != 1 || p[0] >= 0x80 || p[0] == '"' || p[0] == '\n' || p[0] == '\r' {
		d.fail("comma %q; one ASCII character separates fields, neither quote nor newline", p)
		return 0
	}
	return p[0]
}
