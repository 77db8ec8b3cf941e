package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	files "posta.dev/posta/client/source"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/client/source/text"
	"posta.dev/posta/client/source/unpack"
	"posta.dev/posta/protocol"
)

// begun is a file that is being cut.
type begun struct {
	format.Cutter
	in     *format.File
	header []byte
}

// Close frees the copy of a file of another machine.
func (b *begun) Close() error { return free(b.in) }

func free(in *format.File) error {
	if copied, ok := in.At.(*fetched); ok {
		return copied.Close()
	}
	return nil
}

// place returns where the next chunk begins in a file whose bytes are those of the chunks; ok is false for other files.
func (b *begun) place(source *Source) (from int64, line uint64, ok bool) {
	in, ok := b.Cutter.(format.InPlace)
	if !ok || source.packed {
		return 0, 0, false
	}
	return in.Place()
}

// begin detects the format of a file and reads its header. It fails if the header does not fit into a request.
func (f *streamUpload) begin(file io.Reader, source *Source) (b *begun, err error) {
	of, in, err := f.detect(file, source)
	if err != nil {
		return nil, err
	}
	if b, err = f.cut(of, in, source); err != nil {
		return nil, errors.Join(err, free(in))
	}
	return b, nil
}

// cut begins to cut a file of a known format.
func (f *streamUpload) cut(of format.Format, in *format.File, source *Source) (b *begun, err error) {
	b = &begun{in: in}
	if b.Cutter, err = of.Cut(in, f.want(source)); err == nil {
		b.header, err = b.Header()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", source.where(), err)
	}
	if len(of.Endings()) > 0 && !in.Named {
		f.notes.add(source.where(), "read as "+of.Name())
	}
	if len(b.header) > protocol.MaxHeader {
		return nil, fmt.Errorf("%s: its header line has %d bytes; at most %d are taken", source.where(), len(b.header), protocol.MaxHeader)
	}
	if _, _, err := f.limits(source, b.header); err != nil {
		return nil, err
	}
	return b, nil
}

func (f *streamUpload) want(source *Source) *format.Want {
	want := &format.Want{Columns: f.columns, Comma: f.stream.Comma, ChunkBytes: f.chunkBytes, MaxRecord: protocol.MaxData, Room: headRoom,
		Form: f.form, Skips: f.skips, Tests: f.tests,
		Note:   func(text string) { f.notes.add(source.where(), text) },
		Limits: func(header []byte) (int, int, error) { return f.limits(source, header) },
		Sent:   f.had.File(f.stream.Name, source.Name).Header}
	if f.lines != nil {
		if lines, all := f.lines(f.stream.Name, source.Name); !all {
			want.Lines = append([]uint64{}, lines...)
		}
	}
	return want
}

// detect finds out of which format a file is.
func (f *streamUpload) detect(file io.Reader, source *Source) (format.Format, *format.File, error) {
	of, in, file, err := f.anywhere(file, source)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", source.where(), err)
	}
	if of != nil {
		return of, in, nil
	}
	plain, err := unpack.File{Path: source.where(), Named: source.Says.Pack, Read: &f.counters.read, Packed: &source.packed,
		Refuse: func(head []byte) error { return refuse(source.where(), head) }}.Open(file)
	if err != nil {
		return nil, nil, err
	}
	in = &format.File{}
	if in.File, err = text.Open(plain, text.Want{Comma: f.stream.Comma, Columns: f.columns, Given: f.comma, Form: f.form}); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", source.where(), err)
	}
	source.packed = source.packed || in.Encoding != "" || !f.form.Plain()
	if in.Encoding != "" {
		f.notes.add(source.where(), "read as "+in.Encoding)
	}
	for _, of = range files.Formats {
		if of.Anywhere() {
			continue
		}
		in.Named = of == source.Says.Format
		is, err := of.Detect(in)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", source.where(), err)
		}
		if is {
			break // the last one is of any text
		}
	}
	return of, in, nil
}

// refuse returns the error for a file that is read anywhere, and is in a pipe or packed.
func refuse(path string, head []byte) error {
	of, err := files.Anywhere(head[:min(len(head), format.HeadBytes)], nil)
	if of == nil || err != nil {
		return nil
	}
	return fmt.Errorf("%s holds a %s file, whose end says what is in it; such a file is read where it lies on a disk, and not out of a pipe "+
		"or something packed: save it unpacked", path, of.Name())
}

// anywhere returns the format of a file that is read at any place, nil if it is of none. It also returns the reader to use instead of r,
// which begins with the bytes that were read here. A remote file is copied to the disk first, because its end has to be read before the
// rest.
func (f *streamUpload) anywhere(r io.Reader, source *Source) (of format.Format, in *format.File, _ io.Reader, err error) {
	head, n := make([]byte, format.HeadBytes), 0
	at, located := r.(format.Located)
	if located {
		n, err = at.ReadAt(head, 0)
	} else if source.Remote {
		n, err = io.ReadFull(r, head)
		r = io.MultiReader(bytes.NewReader(head[:n]), r)
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, nil, nil, err
	}
	promised := source.Says.Format
	if source.Says.Pack != nil {
		promised = nil
	}
	if of, err = files.Anywhere(head[:n], promised); of == nil || err != nil {
		return nil, nil, r, err
	}
	in = &format.File{File: &text.File{Head: head}, At: at, Named: of == source.Says.Format}
	if !source.Remote { // otherwise all of it is counted while it is copied
		in.Count = &f.counters.read
	}
	if !located {
		copied, err := fetch(r, &f.counters.read, freeIn)
		if err != nil {
			return nil, nil, nil, err
		}
		in.At = copied
	}
	return of, in, r, nil
}
