package protocol

import (
	"slices"
	"strings"
	"time"

	"posta.dev/posta/internal/wire"
	"posta.dev/posta/protocol/session"
)

// codec writes or reads one msgpack map. A message describes its keys once: it calls a method of the codec for each key, in the order of
// writing. When the codec writes, the method appends the key and its value. When it reads, the codec goes through the keys of the frame, in
// whatever order they come, and calls the description for each of them; the method of that key then reads the value. A map has at most
// twenty keys, so this costs less than a microsecond per message.
//
//	0x80|n  key value  key value …     n is written last, over a placeholder; 0xde 0 n, if there are more than fifteen
type codec struct {
	// For writing:
	b  []byte
	at int // offset of the map's first byte
	n  int // how many keys were written

	// For reading:
	d     *decoder // nil when writing
	key   []byte
	taken bool // a method has read the value of key
}

// message is a message that a codec can write and read.
type message interface{ fields(*codec) }

// appendMessage appends m as one map.
func appendMessage(dst []byte, m message) []byte {
	c := codec{b: append(dst, 0x80), at: len(dst)}
	m.fields(&c)
	return c.close()
}

// close writes the number of keys and returns the bytes. The one-byte form holds 15; a map with more keys is moved to make room for the
// longer form.
func (c *codec) close() []byte {
	if c.n > 15 {
		c.b = slices.Insert(c.b, c.at+1, 0, byte(c.n))
		c.b[c.at] = 0xde
		return c.b
	}
	c.b[c.at] = 0x80 | byte(c.n)
	return c.b
}

// has reports whether the description must include keys that only some messages have. A reader always includes them, because the key that
// decides may come after them.
func (c *codec) has(written bool) bool { return c.d != nil || written }

// writes appends the key if the codec writes. The caller appends the value.
func (c *codec) writes(key string) bool {
	if c.d != nil {
		return false
	}
	c.b = wire.AppendString(c.b, key)
	c.n++
	return true
}

// reads reports whether the value of the key is next in the frame. The caller reads it.
func (c *codec) reads(key string) bool {
	if c.d == nil || c.taken || string(c.key) != key {
		return false
	}
	c.taken = true
	return true
}

func (c *codec) version() {
	if c.writes("v") {
		c.b = wire.AppendUint(c.b, Version)
	} else if c.reads("v") {
		c.d.version()
	}
}

func (c *codec) text(key string, limit int, v *string) {
	if c.writes(key) {
		c.b = appendText(c.b, *v)
	} else if c.reads(key) {
		*v = c.d.text(key, limit)
	}
}

// optional is a text that is omitted if it is empty.
func (c *codec) optional(key string, limit int, v *string) {
	if c.has(*v != "") {
		c.text(key, limit, v)
	}
}

// bytes is read as a view into the frame.
func (c *codec) bytes(key string, limit int, v *[]byte) {
	if c.writes(key) {
		c.b = wire.AppendBin(c.b, *v)
	} else if c.reads(key) {
		*v = c.d.view(key, limit)
	}
}

func (c *codec) uint(key string, v *uint64) {
	if c.writes(key) {
		c.b = wire.AppendUint(c.b, *v)
	} else if c.reads(key) {
		*v = c.d.Uint()
	}
}

// fileBytes is how many bytes of its files a client has read, out of how many.
func (c *codec) fileBytes(read, size *uint64) {
	below(c, "files_read", MaxOffset, read)
	below(c, "files_size", MaxOffset, size)
}

// below is a number from 0 to limit - 1; it reports whether the number was read.
func below[T int | uint32 | uint64](c *codec, key string, limit uint64, v *T) bool {
	if c.writes(key) {
		c.b = wire.AppendUint(c.b, uint64(max(0, *v)))
		return false
	}
	if !c.reads(key) {
		return false
	}
	*v = T(c.d.below(key, limit))
	return true
}

func (c *codec) millis(key string, limit time.Duration, v *time.Duration) {
	if c.writes(key) {
		c.b = wire.AppendUint(c.b, uint64(max(0, v.Milliseconds())))
	} else if c.reads(key) {
		*v = c.d.millis(limit)
	}
}

func (c *codec) bool(key string, v *bool) {
	if c.writes(key) {
		c.b = wire.AppendBool(c.b, *v)
	} else if c.reads(key) {
		*v = c.d.Bool()
	}
}

func (c *codec) session(key string, v *session.ID) {
	if c.writes(key) {
		c.b = appendText(c.b, v.String())
	} else if c.reads(key) {
		*v = c.d.session()
	}
}

// token is omitted if it is zero.
func (c *codec) token(key string, v *session.Token) {
	if c.has(*v != session.Token{}) {
		if c.writes(key) {
			c.b = wire.AppendBin(c.b, v[:])
		} else if c.reads(key) {
			c.d.Fixed(v[:])
		}
	}
}

// trace is omitted if it is zero.
func (c *codec) trace(key string, v *session.Trace) {
	if c.has(*v != session.Trace{}) {
		if c.writes(key) {
			c.b = wire.AppendBin(c.b, v[:])
		} else if c.reads(key) {
			c.d.Fixed(v[:])
		}
	}
}

// openers are omitted if there are none.
func (c *codec) openers(key string, v *session.Openers) {
	if c.has(len(*v) > 0) {
		if c.writes(key) {
			c.b = v.Append(wire.AppendBinHeader(c.b, len(*v)*len(session.TokenHash{})))
		} else if c.reads(key) {
			*v = c.d.openers(key)
		}
	}
}

// flag is omitted if it is false.
func (c *codec) flag(key string, v *bool) {
	if c.has(*v) {
		c.bool(key, v)
	}
}

func (c *codec) texts(key string, count, limit int, v *[]string) {
	if c.writes(key) {
		c.b = wire.AppendArray(c.b, len(*v))
		for _, s := range *v {
			c.b = appendText(c.b, s)
		}
	} else if c.reads(key) {
		*v = nil
		c.d.list(key, count, func() { *v = append(*v, c.d.text(key, limit)) })
	}
}

// optionalTexts are omitted if there are none.
func (c *codec) optionalTexts(key string, count, limit int, v *[]string) {
	if c.has(len(*v) > 0) {
		c.texts(key, count, limit, v)
	}
}

func (c *codec) lanes(key string, v *[]LaneSeq) {
	if c.writes(key) {
		c.b = wire.AppendArray(c.b, len(*v))
		for _, l := range *v {
			c.b = wire.AppendArray(c.b, 2)
			c.b = wire.AppendUint(c.b, uint64(l.Lane))
			c.b = wire.AppendUint(c.b, l.Seq)
		}
	} else if c.reads(key) {
		*v = c.d.lanes()
	}
}

// errorFields are omitted if there are none.
func (c *codec) errorFields(key string, v *Fields) {
	if !c.has(len(*v) > 0) {
		return
	}
	if c.writes(key) {
		c.b = v.append(c.b)
	} else if c.reads(key) {
		*v = nil
		c.d.names("fields", MaxFields, func(name string) { v.set(name, c.d.text(name, MaxFieldBytes)) })
	}
}

func (c *codec) stamp(key string, v *Stamp) {
	if c.writes(key) {
		c.b = wire.AppendUint(wire.AppendArray(c.b, 3), v.Size)
		c.b = wire.AppendUint(wire.AppendInt(c.b, v.Modified), v.Inode)
	} else if c.reads(key) {
		c.d.ArrayOf(3)
		*v = Stamp{Size: c.d.Uint(), Modified: c.d.Int(), Inode: c.d.Uint()}
		c.d.hasStamp = true
	}
}

// messageOf is a pointer to T that is a message.
type messageOf[T any] interface {
	*T
	message
}

// list is an array of maps, at most limit of them.
func list[T any, P messageOf[T]](c *codec, key string, limit int, v *[]T) {
	if c.writes(key) {
		c.b = wire.AppendArray(c.b, len(*v))
		for i := range *v {
			c.b = appendMessage(c.b, P(&(*v)[i]))
		}
	} else if c.reads(key) {
		*v = nil
		c.d.list(key, limit, func() {
			*v = append(*v, *new(T))
			c.d.message(P(&(*v)[len(*v)-1]))
		})
	}
}

// appendText appends s as valid UTF-8, because CSV files may contain any bytes, and libraries in other languages refuse a str that is not
// UTF-8.
func appendText(dst []byte, s string) []byte {
	return wire.AppendString(dst, strings.ToValidUTF8(s, "\ufffd"))
}
