package bench

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// stack is one entry of a CPU profile.
type stack struct {
	functions []string // the innermost first; the last one is the function with which the goroutine began
	spent     time.Duration
}

// errProfile is wrapped by errors about a file that is not a CPU profile of Go's runtime.
var errProfile = errors.New("not a CPU profile")

// readProfile reads a CPU profile as runtime/pprof writes it: a message of protocol buffers, packed with gzip.
func readProfile(name string) ([]stack, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // no error matters: the file was only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, errProfile, err)
	}
	b, err := io.ReadAll(io.LimitReader(z, mostProfile))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, errProfile, err)
	}
	all, err := decodeProfile(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, nil
}

// mostProfile bounds the bytes of a profile. One of a minute has a few hundred kilobytes.
const mostProfile = 64 << 20

// decodeProfile decodes the fields of https://github.com/google/pprof/blob/main/proto/profile.proto that say where time was spent:
//
//	Profile   2 samples   4 locations   5 functions   6 texts
//	Sample    1 ids of locations, the innermost first   2 values: how many samples, and nanoseconds
//	Location  1 id   4 lines: several if calls were inlined, the innermost first
//	Line      1 id of a function
//	Function  1 id   2 its name: an index of the texts
func decodeProfile(b []byte) (all []stack, err error) {
	type sample struct{ locations, values []uint64 }
	var (
		samples   []sample
		locations = map[uint64][]uint64{}
		names     = map[uint64]uint64{}
		texts     []string
	)
	err = fields(b, func(field, _ uint64, p []byte) error {
		switch field {
		case 2:
			var s sample
			samples = append(samples, s)
			at := &samples[len(samples)-1]
			return fields(p, func(field, number uint64, p []byte) error {
				switch field {
				case 1:
					return appendNumbers(&at.locations, number, p)
				case 2:
					return appendNumbers(&at.values, number, p)
				}
				return nil
			})
		case 4:
			var id uint64
			var lines []uint64
			err := fields(p, func(field, number uint64, p []byte) error {
				switch field {
				case 1:
					id = number
				case 4:
					return fields(p, func(field, number uint64, _ []byte) error {
						if field == 1 {
							lines = append(lines, number)
						}
						return nil
					})
				}
				return nil
			})
			locations[id] = lines
			return err
		case 5:
			var id, name uint64
			err := fields(p, func(field, number uint64, _ []byte) error {
				switch field {
				case 1:
					id = number
				case 2:
					name = number
				}
				return nil
			})
			names[id] = name
			return err
		case 6:
			texts = append(texts, string(p))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, s := range samples {
		if len(s.values) != 2 {
			return nil, fmt.Errorf("%w: a sample with %d values", errProfile, len(s.values))
		}
		x := stack{spent: time.Duration(s.values[1])}
		for _, id := range s.locations {
			for _, function := range locations[id] {
				name := names[function]
				if name >= uint64(len(texts)) {
					return nil, fmt.Errorf("%w: text %d of %d", errProfile, name, len(texts))
				}
				x.functions = append(x.functions, texts[name])
			}
		}
		all = append(all, x)
	}
	return all, nil
}

// fields calls each with every field of a message: with its number, or with its bytes. The bytes of a number are nil.
func fields(b []byte, each func(field, number uint64, bytes []byte) error) error {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return errProfile
		}
		b = b[n:]
		var number uint64
		var p []byte
		switch tag & 7 {
		case 0, 2:
			if number, n = binary.Uvarint(b); n <= 0 {
				return errProfile
			}
			if b = b[n:]; tag&7 == 2 {
				if number > uint64(len(b)) {
					return errProfile
				}
				p, b = b[:number:number], b[number:]
			}
		case 1, 5: // numbers of fixed size, which none of these messages has
			size := map[uint64]int{1: 8, 5: 4}[tag&7]
			if len(b) < size {
				return errProfile
			}
			b = b[size:]
		default:
			return errProfile
		}
		if err := each(tag>>3, number, p); err != nil {
			return err
		}
	}
	return nil
}

// appendNumbers appends a repeated number, which is packed if there are several.
func appendNumbers(all *[]uint64, number uint64, packed []byte) error {
	if packed == nil {
		*all = append(*all, number)
		return nil
	}
	for len(packed) > 0 {
		v, n := binary.Uvarint(packed)
		if n <= 0 {
			return errProfile
		}
		*all, packed = append(*all, v), packed[n:]
	}
	return nil
}
