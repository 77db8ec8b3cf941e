package csv

import "bytes"

// Only this file knows where fields and records end in any case. Scanner and Cutter both use it, or quotes.go, which does the
// same faster if all quotes are well placed. So the two cannot disagree.

const quote = '"'

// ending says how a field ends.
type ending uint8

const (
	atComma   ending = iota // another field follows
	atLine                  // the record ends in a line feed
	atEnd                   // the record ends with the data
	garbage                 // text after the closing quote; its line has ended
	garbageAt               // text after the closing quote; the data ends before the line does
	unclosed                // the data ends before the quoted field does
)

// complete reports whether the record's end was found, so that more data would not change it.
func (e ending) complete() bool { return e == atLine || e == garbage }

// field is the place of a field's text: data[from:to], without the quotes around it. It stays this small because the compiler
// keeps structs of up to four words in registers.
type field struct {
	from, to int
	doubled  bool // it holds doubled quotes
}

// walkField returns the field that starts at data[at], how it ends, and where the next field or record starts. nl is the
// first line feed at or after at, len(data) if there is none; the caller finds it once for many fields. It is not used for
// quoted fields.
func walkField(data []byte, at, nl int, comma byte) (f field, end ending, next int) {
	if at < len(data) && data[at] == quote {
		return walkQuoted(data, at+1, comma)
	}
	if i := bytes.IndexByte(data[at:nl], comma); i >= 0 {
		return field{from: at, to: at + i}, atComma, at + i + 1
	}
	f = field{from: at, to: withoutCR(data, at, nl)}
	if nl < len(data) {
		return f, atLine, nl + 1
	}
	return f, atEnd, nl
}

func walkQuoted(data []byte, from int, comma byte) (f field, end ending, next int) {
	doubled := false
	for at := from; ; {
		i := bytes.IndexByte(data[at:], quote)
		if i < 0 {
			return field{from, len(data), doubled}, unclosed, len(data)
		}
		at += i + 1
		if at < len(data) && data[at] == comma {
			return field{from, at - 1, doubled}, atComma, at + 1
		}
		if at == len(data) || data[at] != quote {
			end, next = afterQuote(data, at)
			return field{from, at - 1, doubled}, end, next
		}
		doubled = true
		at++
	}
}

// afterQuote decides how the record continues if the byte after a closing quote is not a separator.
func afterQuote(data []byte, at int) (end ending, next int) {
	line := at
	if line < len(data) && data[line] == '\r' {
		line++
	}
	switch {
	case line == len(data):
		return atEnd, line
	case data[line] == '\n':
		return atLine, line + 1
	}
	if i := bytes.IndexByte(data[at:], '\n'); i >= 0 {
		return garbage, at + i + 1
	}
	return garbageAt, len(data)
}

// recordEnd returns the end of the record that starts at data[at], just after its line feed, and whether this end was found.
func recordEnd(data []byte, at int, comma byte) (end int, complete bool) {
	nl := lineFeed(data, at)
	for {
		_, e, next := walkField(data, at, nl, comma)
		if e != atComma {
			return next, e.complete()
		}
		if at = next; at > nl {
			nl = lineFeed(data, at)
		}
	}
}

// lineFeed returns the index of the first line feed at or after at, len(data) if there is none.
func lineFeed(data []byte, at int) int { return nextByte(data, at, '\n') }

func nextByte(data []byte, at int, b byte) int {
	if i := bytes.IndexByte(data[at:], b); i >= 0 {
		return at + i
	}
	return len(data)
}

// withoutCR returns to, or one less if data[from:to] ends with a carriage return.
func withoutCR(data []byte, from, to int) int {
	if to > from && data[to-1] == '\r' {
		return to - 1
	}
	return to
}

// lastEnd returns the end of the last complete record that ends at or before limit. If the first record is longer, it returns the end of
// that one, or 0 if it is not complete. lines is how many line feeds come before the end. lone is false if each carriage return before
// the end, except in the last byte, has a line feed after it; it is true if this is not certain.
func lastEnd(data []byte, limit int, comma byte) (end int, lines uint64, lone bool) {
	end, lines, lone, ok := soundEnd(data[:min(limit, len(data))], comma)
	if ok && end > 0 {
		return end, lines, lone
	}
	end = mixedEnd(data, limit, comma, stretch)
	return end, linesIn(data[:end]), lone || end == 0 || end > limit // carriage returns were seen up to limit, whatever the quotes are
}

// stretch is how many bytes are looked at together where a quote is in a wrong place somewhere. Longer stretches have such a quote more
// often, and are walked; of shorter ones the last record, which they cut in two, is looked at twice.
const stretch = 8 << 10

// mixedEnd is lastEnd for data in which a few quotes are in wrong places. It follows quotes by arithmetic, stretch by stretch, and searches
// only those stretches that have such a quote. Each stretch begins at a record's start, so what was wrong in the one before does not
// matter.
func mixedEnd(data []byte, limit int, comma byte, stretch int) (last int) {
	limit = min(limit, len(data))
	for last < limit {
		end := last + endWithin(data[last:min(last+stretch, limit)], comma)
		if end == last { // the record is longer than the stretch
			var complete bool
			if end, complete = recordEnd(data, last, comma); !complete {
				break
			}
		}
		if last > 0 && end > limit {
			break
		}
		last = end
	}
	return last
}

// endWithin returns the end of the last complete record in data, 0 if there is none, in the fastest way that is right. It looks at no byte
// behind data, so that many stretches take no more time than one.
func endWithin(data []byte, comma byte) int {
	if bytes.IndexByte(data, quote) < 0 {
		return 1 + bytes.LastIndexByte(data, '\n')
	}
	end, _, _, ok := soundEnd(data, comma)
	if !ok {
		end = walkedEnd(data, len(data), comma)
	}
	return end
}

// walkedEnd is lastEnd for any data, by searching.
func walkedEnd(data []byte, limit int, comma byte) int {
	limit = min(limit, len(data))
	last, q := 0, -1
	for last < limit {
		if q < last {
			q = nextByte(data, last, quote)
		}
		// Up to the next quote each line feed ends a record, so only the last one is needed. A record is walked only if it has a quote, or is the
		// first one.
		if i := bytes.LastIndexByte(data[last:min(q, limit)], '\n'); i >= 0 {
			last += i + 1
			continue
		}
		if last > 0 && q >= limit {
			break
		}
		end, complete := recordEnd(data, last, comma)
		if !complete || end > limit && last > 0 {
			break
		}
		last = end
	}
	return last
}
