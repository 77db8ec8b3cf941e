package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"posta.dev/posta/wal"
)

// measureLog appends as a node does under load: many records, one fsync.
func measureLog(ctx context.Context, c *Config) ([]Case, error) {
	pool := newPool()
	var cases []Case
	for _, size := range c.Sizes {
		done, err := repeat(ctx, sizeName(size), c.rounds(), func(_ context.Context, i int) ([]Measure, error) {
			return logRound(c, pool, size, i)
		})
		if err != nil {
			return nil, err
		}
		cases = append(cases, done)
	}
	return cases, nil
}

func logRound(c *Config, pool []byte, size, i int) ([]Measure, error) {
	var cpu, plainCPU time.Duration
	ours, theirs, err := compareTimes(i,
		withCPU(&cpu, func() (time.Duration, error) { return appendLog(c.Dir, pool, size, c.Amount) }),
		withCPU(&plainCPU, func() (time.Duration, error) { return writePlain(c.Dir, pool, c.Amount) }))
	if err != nil {
		return nil, err
	}
	return []Measure{
		{"records", "/s", float64(c.Amount) / float64(size) / ours.Seconds()},
		{"log", "MB/s", rate(c.Amount, ours)},
		{"plain", "MB/s", rate(c.Amount, theirs)},
		{"ratio", "", theirs.Seconds() / ours.Seconds()},
		{"CPU per byte", "ns", float64(cpu.Nanoseconds()) / float64(c.Amount)},
		{"plain's", "ns", float64(plainCPU.Nanoseconds()) / float64(c.Amount)},
	}, nil
}

// appendLog fills a new log with records of size bytes, with 4 MiB of them in each append.
func appendLog(dir string, pool []byte, size int, amount int64) (took time.Duration, err error) {
	dir, err = os.MkdirTemp(dir, "log")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := wal.Open(dir, wal.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	records := make([]wal.Record, max(1, piece/size))
	begin := time.Now()
	for at := 0; amount > 0; amount -= int64(len(records) * size) {
		for i := range records {
			if at+size > len(pool) {
				at = 0
			}
			records[i] = wal.Record{Type: 1, Parts: [][]byte{pool[at : at+size]}}
			at += size
		}
		if _, err := l.Append(records...); err != nil {
			return 0, err
		}
	}
	return time.Since(begin), nil
}

func sizeName(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
