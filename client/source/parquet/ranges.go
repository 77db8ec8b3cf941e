package parquet

import (
	"encoding/binary"

	"posta.dev/posta/rows/csv"
)

// statistics is what the footer says of the values of a column in a row group. Whether it is true cannot be known without reading the
// values, so it is trusted like the values themselves. Bounds that cannot be values are ignored.
type statistics struct {
	least, most       []byte // in the order of the type
	oldLeast, oldMost []byte // from older writers, which compare as signed numbers, whatever the type
	nulls             int64
	counted           bool // nulls is known
	inexact           bool // a bound may be cut short
}

// statistics reads a Statistics structure; false if kind is not a structure.
func (t *thrift) statistics(kind byte, s *statistics) bool {
	if kind != thriftStruct {
		return false
	}
	t.structure(5, func(id int, kind byte) bool {
		switch {
		case id == 3 && kind == thriftI64:
			s.nulls, s.counted = t.int(), true
		case (id == 7 || id == 8) && kind == thriftFalse:
			s.inexact = true
		case kind != thriftBinary:
			return false
		case id == 1:
			s.oldMost = t.binary()
		case id == 2:
			s.oldLeast = t.binary()
		case id == 5:
			s.most = t.binary()
		case id == 6:
			s.least = t.binary()
		default:
			return false
		}
		return true
	})
	return true
}

// ordered reads the order of a column's statistics, and reports whether it is that of the column's type.
func (t *thrift) ordered(kind byte) (is bool) {
	if kind != thriftStruct {
		t.skip(kind, 1, true)
		return false
	}
	t.structure(2, func(id int, _ byte) bool {
		is = id == 1
		return false
	})
	return is
}

// kindOfValues returns the kind of an element's values, or csv.KindUnknown if they are not ordered like the fields that are made of them.
//
// FLOAT and DOUBLE are of KindUnknown: statistics cannot say whether there are NaNs, and some writers get the bounds of the other values
// wrong where there are. In parquet-go 0.25 a NaN takes those before it out of the bounds.
func (e *element) kindOfValues() (kind csv.Kind, unsigned bool) {
	logical, _, unsigned := e.meaning()
	integers := e.kind == kindInt32 || e.kind == kindInt64
	switch {
	case logical == logicalDecimal && (integers || e.kind == kindBytes || e.kind == kindFixed):
		return csv.KindDecimal, false
	case integers && (logical == 0 || logical == logicalInteger):
		return csv.KindInteger, unsigned
	case e.kind == kindInt32 && logical == logicalDate:
		return csv.KindDate, false
	case e.kind == kindInt64 && logical == logicalTimestamp:
		return csv.KindTime, false
	case e.kind == kindBytes && (logical == 0 || logical == logicalString || logical == logicalEnum || logical == logicalJSON):
		return csv.KindBytes, true
	}
	return csv.KindUnknown, false
}

// ordered reports whether the file's statistics of the column are in the order of its type.
func (c *column) ordered() bool { return c.leaf < len(c.file.orders) && c.file.orders[c.leaf] }

// rangeOf returns the range of a column's fields, by the statistics of some of its values.
func (c *column) rangeOf(s *statistics, values int64) csv.Range {
	r := csv.Range{NoNulls: c.maxDef == 0 || c.maxRep == 0 && s.counted && s.nulls == 0}
	if least, most, kind := c.ends(s, values); kind != csv.KindUnknown {
		r.Kind, r.Least, r.Most = kind, least, most
		r.Cut = kind == csv.KindBytes && (s.inexact || max(len(least), len(most)) >= leastCut)
	}
	return r
}

// leastCut is the least length to which writers cut texts in statistics, without saying so in an index of pages.
const leastCut = 16

// ends returns the ends of a range and its kind.
func (c *column) ends(s *statistics, values int64) (from, to []byte, of csv.Kind) {
	kind, unsigned := c.element.kindOfValues()
	least, most := s.least, s.most
	switch signed := !unsigned && c.kind != kindBytes && c.kind != kindFixed; {
	case least == nil && most == nil && s.oldLeast == nil && s.oldMost == nil && s.counted && s.nulls == values && c.maxDef > 0 &&
		c.maxRep == 0:
		return nil, nil, csv.KindNone
	case s.inexact && kind != csv.KindBytes: // a prefix of a text is a bound, too; but the first bytes of a number are another number
		return nil, nil, csv.KindUnknown
	case kind == csv.KindDecimal && c.kind == kindBytes: // some writers compare them as texts, which differs if lengths do
		return nil, nil, csv.KindUnknown
	case c.ordered(), signed && least != nil && most != nil: // signed numbers have only one order
	case signed:
		least, most = s.oldLeast, s.oldMost
	default:
		return nil, nil, csv.KindUnknown
	}
	from, ok := c.bound(kind, least)
	to, also := c.bound(kind, most)
	if !ok || !also {
		return nil, nil, csv.KindUnknown
	}
	return from, to, kind
}

// bound returns the field that a value of statistics stands for.
func (c *column) bound(kind csv.Kind, value []byte) (field []byte, ok bool) {
	switch {
	case value == nil || kind == csv.KindUnknown:
		return nil, false
	case kind == csv.KindBytes:
		return value, true
	case c.texts.bytes != nil: // a decimal
		if len(value) == 0 || c.texts.width > 0 && len(value) != c.texts.width {
			return nil, false
		}
		return c.texts.bytes(nil, value), true
	case len(value) != c.texts.width:
		return nil, false
	}
	var bits uint64
	if len(value) == 4 {
		bits = uint64(binary.LittleEndian.Uint32(value))
	} else {
		bits = binary.LittleEndian.Uint64(value)
	}
	return c.texts.number(nil, bits), true
}
