package client

import (
	"context"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/client/resume"
	"posta.dev/posta/protocol"
)

// BenchmarkCompare measures how long it takes to read a file that was taken.
func BenchmarkCompare(b *testing.B) {
	content, _ := csvFile("montreal", 1_000_000)
	file := filepath.Join(b.TempDir(), "trips.csv")
	write(b, file, content)
	header, records := len("id,line"), content[len("id,line\n"):]
	table := crc32.MakeTable(crc32.Castagnoli)
	had, err := resume.Of([]protocol.Reply{{Ranges: []protocol.FileRanges{
		{Stream: "trips", File: "trips.csv", Header: crc32.Checksum(content[:header], table),
			Taken: []protocol.Range{{To: uint64(len(records)), Sum: crc32.Checksum(records, table)}}}}}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	f := &streamUpload{stream: protocol.Stream{Name: "trips", Comma: ','}, chunkBytes: 1 << 20, warnings: &warnings{}, notes: &warnings{},
		had:      had,
		counters: &streamCounters{}}
	b.SetBytes(int64(len(content)))
	var memory []byte
	for b.Loop() {
		if err := f.compareFile(b.Context(), &Source{Name: "trips.csv", Path: file,
			Open: func(context.Context) (io.ReadCloser, error) { return os.Open(file) }}, &memory); err != nil {
			b.Fatal(err)
		}
	}
}
