package core

import (
	"errors"
	"fmt"
	"time"

	"posta.dev/posta/internal/wire"
)

// ErrBadMessage is wrapped by the errors of DecodeMessage, DecodeSnapshot and Restore: no medic of this version wrote the bytes.
var ErrBadMessage = errors.New("not a medic's message")

// Every value is an array of its struct's fields, in their order; durations are milliseconds and points in time nanoseconds since 1970. A
// field that a kind of message does not use is empty, which costs a byte: medics send some tens of messages a second.
//
// They are written by hand, because a message may come from a stranger. The log has entries of the journal in the form in which messages
// have them, so a library for the log would be a second form.
//
// codec walks over a value's fields, with the same code for both directions: it appends each field to out, or, if in is set, reads each
// field from in.
type codec struct {
	out  []byte
	in   *wire.Reader
	disk bool // in is what this medic itself has stored
}

func encode(out []byte, fields func(*codec)) []byte {
	c := codec{out: out}
	fields(&c)
	return c.out
}

// decode reads a message.
func decode(p []byte, fields func(*codec)) error { return decodeFrom(&codec{}, p, fields) }

// decodeStored reads what this medic has stored.
func decodeStored(p []byte, fields func(*codec)) error {
	return decodeFrom(&codec{disk: true}, p, fields)
}

func decodeFrom(c *codec, p []byte, fields func(*codec)) error {
	in := wire.NewReader(p)
	c.in = &in
	fields(c)
	if err := in.Done(); err != nil {
		return fmt.Errorf("%w: %w", ErrBadMessage, err)
	}
	return nil
}

func field[T any](c *codec, v *T, read func(*wire.Reader) T, write func([]byte, T) []byte) {
	if c.in != nil {
		*v = read(c.in)
	} else {
		c.out = write(c.out, *v)
	}
}

// array is the header of an array of n elements.
func (c *codec) array(n int) {
	field(c, &n, func(r *wire.Reader) int { r.ArrayOf(n); return n }, wire.AppendArray)
}

// list is an array of any length.
func list[T any](c *codec, all *[]T, element func(*codec, *T)) {
	if c.in != nil {
		*all = nil
		for n := c.in.Array(); n > 0 && c.in.Err() == nil; n-- {
			*all = append(*all, *new(T))
			element(c, &(*all)[len(*all)-1])
		}
		return
	}
	c.array(len(*all))
	for i := range *all {
		element(c, &(*all)[i])
	}
}

func number[T ~uint64 | ~byte](c *codec, v *T) {
	field(c, v, func(r *wire.Reader) T { return T(r.Uint()) }, func(p []byte, v T) []byte { return wire.AppendUint(p, uint64(v)) })
}

func text[T ~string](c *codec, v *T) {
	field(c, v, func(r *wire.Reader) T { return T(r.String()) }, func(p []byte, v T) []byte { return wire.AppendString(p, string(v)) })
}

func (c *codec) flag(v *bool) { field(c, v, (*wire.Reader).Bool, wire.AppendBool) }

func (c *codec) logID(v *[16]byte) {
	field(c, v, func(r *wire.Reader) (id [16]byte) { copy(id[:], r.BytesOf(len(id))); return id },
		func(p []byte, id [16]byte) []byte { return wire.AppendBin(p, id[:]) })
}

func (c *codec) instant(v *time.Time) {
	field(c, v, func(r *wire.Reader) time.Time { return time.Unix(0, r.Int()) },
		func(p []byte, t time.Time) []byte { return wire.AppendInt(p, t.UnixNano()) })
}

// count is a small number: a pid, or a number of failures.
func (c *codec) count(v *int) {
	field(c, v, func(r *wire.Reader) int { return int(min(r.Uint(), 1<<31)) },
		func(p []byte, n int) []byte { return wire.AppendUint(p, uint64(n)) })
}

func (c *codec) duration(v *time.Duration) {
	const longest = uint64(100 * 365 * 24 * time.Hour / time.Millisecond)
	field(c, v, func(r *wire.Reader) time.Duration { return time.Duration(min(r.Uint(), longest)) * time.Millisecond },
		func(p []byte, d time.Duration) []byte { return wire.AppendUint(p, uint64(max(0, d)/time.Millisecond)) })
}

// generation refuses numbers so high that the next generations could overflow to 0: a message may be forged. What this medic has stored
// itself is accepted without a limit (M10): a medic that refused its own log would never start again.
func (c *codec) generation(g *Generation) {
	const highest = 1 << 62
	if number(c, g); c.in != nil && !c.disk && *g > highest {
		c.in.Fail("generation %d is none", *g)
	}
}
