package bench

import (
	"bytes"
	"context"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"posta/analyses"
	"posta/analyses/bikes"
	"posta/analyses/parse"
	"posta/csv"
)

const (
	parseRows   = 500_000
	parseChunk  = 256 << 10
	parseStream = "trips"
)

// measureCSV parses a file of trips that is in memory, as the parser role does: chunk by chunk into batches in their wire form.
// Both contestants keep to one goroutine, and time is the process' CPU time: what others do on the machine does not count.
func measureCSV(ctx context.Context, c *Config) ([]Case, error) {
	dir, _, err := bikesData(c.Dir, parseRows)
	if err != nil {
		return nil, err
	}
	name := "montreal/trips.csv"
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	done, err := repeat(ctx, fmt.Sprintf("%d MB of trips", len(data)/1e6), c.Rounds, func(_ context.Context, i int) ([]Measure, error) {
		return csvRound(name, data, i)
	})
	return []Case{done}, err
}

func csvRound(name string, data []byte, i int) ([]Measure, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ours, theirs time.Duration
	var rows int
	ourTurn := func() (err error) {
		begin := cpuTime()
		rows, err = parseTrips(name, data)
		ours = cpuTime() - begin
		return err
	}
	theirTurn := func() error {
		begin := cpuTime()
		err := splitStandard(data)
		theirs = cpuTime() - begin
		return err
	}
	if err := inTurn(i, ourTurn, theirTurn); err != nil {
		return nil, err
	}
	size := int64(len(data))
	return []Measure{
		{"parse", "MB/s", rate(size, ours)},
		{"row", "ns", float64(ours.Nanoseconds()) / float64(rows)},
		{"encoding/csv", "MB/s", rate(size, theirs)},
		{"ratio", "", theirs.Seconds() / ours.Seconds()},
	}, nil
}

func parseTrips(name string, data []byte) (rows int, err error) {
	a := bikes.New()
	stream := a.StreamIndex(parseStream)
	file, ok := a.Streams[stream].Match(name)
	if !ok {
		return 0, fmt.Errorf("%s is no file of stream %s", name, parseStream)
	}
	args, err := a.Args(nil)
	if err != nil {
		return 0, err
	}
	cut := csv.NewCutter(bytes.NewReader(data), a.Streams[stream].Comma, parseChunk, 16<<20)
	header, err := cut.Header()
	if err != nil {
		return 0, err
	}
	p, err := parse.NewFile(a, stream, args, file, header)
	if err != nil {
		return 0, err
	}
	return parseChunks(cut, p)
}

func parseChunks(cut *csv.Cutter, p *parse.FileParser) (rows int, err error) {
	var chunk, frame []byte
	for {
		var line uint64
		chunk, line, err = cut.Next(chunk)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		var rejects analyses.Rejects
		n, rejects, err := p.Chunk(chunk, line)
		if err != nil {
			return rows, err
		}
		rows += n + int(rejects.Rows)
		frame = p.Builder().Append(frame[:0])
	}
}

// splitStandard only splits: it parses no number and makes no batch.
func splitStandard(data []byte) error {
	r := stdcsv.NewReader(bytes.NewReader(data))
	r.ReuseRecord, r.FieldsPerRecord, r.LazyQuotes = true, -1, true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil && !errors.Is(err, stdcsv.ErrQuote) {
			return err
		}
	}
}
