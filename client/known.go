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
	known = make([]csv.Known, len(columns))
	for i := range known {
		known[i].Counted = true
	}
	ok, err = in.unread(ctx, stream, func(of format.Format, file *format.File) (bool, error) {
		says, is := of.(format.Knowing)
		if !is {
			return false, nil
		}
		n, own, ok, err := says.Known(file, columns)
		rows += n
		for k := range own {
			known[k].Values += own[k].Values
			known[k].Counted = known[k].Counted && own[k].Counted
			known[k].Ranges = append(known[k].Ranges, own[k].Ranges...)
		}
		return ok, err
	})
	return rows, known, ok, err
}

// Foresee returns what is read of the files of a stream; ok is false if a file does not say it without being read.
func (in *Input) Foresee(ctx context.Context, stream protocol.Stream, want *format.Want) (share format.Share, ok bool, err error) {
	ok, err = in.unread(ctx, stream, func(of format.Format, file *format.File) (bool, error) {
		says, is := of.(format.Foreseeing)
		if !is {
			return false, nil
		}
		one, err := says.Foresee(file, want)
		share.Add(one)
		return true, err
	})
	return share, ok, err
}

// unread asks all files of a stream what they are, without reading their rows; ok is false if one of them does not say it.
func (in *Input) unread(ctx context.Context, stream protocol.Stream, ask func(format.Format, *format.File) (ok bool, err error)) (ok bool,
	err error) {
	sources, err := in.filesOf(ctx, stream)
	for i := range sources {
		if sources[i].Remote { // it would be copied once more
			return false, nil
		}
		if ok, err := unread(ctx, &sources[i], stream, ask); !ok || err != nil {
			return false, unlessOver(ctx, err)
		}
	}
	return err == nil, err
}

func unread(ctx context.Context, src *Source, stream protocol.Stream, ask func(format.Format, *format.File) (bool, error)) (ok bool,
	err error) {
	file, err := src.open(ctx)
	if err != nil {
		return false, err
	}
	defer closeWith(ctx, file, &err)()
	f := &streamUpload{stream: stream, counters: &streamCounters{}, warnings: &warnings{}, notes: &warnings{}}
	of, at, _, err := f.anywhere(file, src)
	if err != nil || of == nil {
		return false, err
	}
	if ok, err = ask(of, at); err != nil {
		return false, fmt.Errorf("%s: %w", src.where(), err)
	}
	return ok, at.At.Unchanged()
}
