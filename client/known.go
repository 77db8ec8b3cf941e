package client

import (
	"context"
	"fmt"

	"posta.dev/posta/client/source/format"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/csv"
)

// Known returns how many rows the files of a stream have, and what they say about some columns; ok is false if a file does not say it
// without being read.
func (in *Input) Known(ctx context.Context, stream protocol.Stream, columns []csv.Column) (rows int64, known []csv.Known, ok bool,
	err error) {
	sources, err := in.filesOf(ctx, stream)
	if err != nil {
		return 0, nil, false, err
	}
	known = make([]csv.Known, len(columns))
	for i := range known {
		known[i].Counted = true
	}
	for i := range sources {
		if sources[i].Remote { // it would be copied once more
			return 0, nil, false, nil
		}
		n, own, ok, err := knownOf(ctx, &sources[i], stream, columns)
		if !ok || err != nil {
			return 0, nil, false, unlessOver(ctx, err)
		}
		rows += n
		for k := range own {
			known[k].Values += own[k].Values
			known[k].Counted = known[k].Counted && own[k].Counted
			known[k].Ranges = append(known[k].Ranges, own[k].Ranges...)
		}
	}
	return rows, known, true, nil
}

func knownOf(ctx context.Context, src *Source, stream protocol.Stream, columns []csv.Column) (rows int64, known []csv.Known, ok bool,
	err error) {
	file, err := src.open(ctx)
	if err != nil {
		return 0, nil, false, err
	}
	defer closeWith(ctx, file, &err)()
	f := &streamUpload{stream: stream, counters: &streamCounters{}, columns: columns, warnings: &warnings{}, notes: &warnings{}}
	of, at, _, err := f.anywhere(file, src)
	if err != nil || of == nil {
		return 0, nil, false, err
	}
	says, is := of.(format.Knowing)
	if !is {
		return 0, nil, false, nil
	}
	if rows, known, ok, err = says.Known(at, columns); err != nil {
		return 0, nil, false, fmt.Errorf("%s: %w", src.where(), err)
	}
	return rows, known, ok, at.At.Unchanged()
}
