package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// said is what a command of posta ended with.
type said struct {
	rows [][]any
	why  string // in words, if it failed
	code int
	v    verdict // panicked or hangs, else ""
}

// posta runs one statement over the files of a directory.
func (s *suite) ask(ctx context.Context, dir, text string) (said, error) {
	file, err := os.CreateTemp("", "posta-suites-*.sql")
	if err != nil {
		return said{}, err
	}
	defer os.Remove(file.Name())
	if _, err := file.WriteString(text + "\n;\n"); err != nil {
		return said{}, errors.Join(err, file.Close())
	}
	if err := file.Close(); err != nil {
		return said{}, err
	}
	timed, stop := context.WithTimeout(ctx, s.limit)
	defer stop()
	cmd := exec.CommandContext(timed, s.posta, "sql", "--quiet", "--json", "--data", dir, "-f", file.Name())
	var out, words bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &words
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) } // it says where it stands
	cmd.WaitDelay = 10 * time.Second
	failed := cmd.Run()
	got := said{why: strings.TrimSpace(words.String()), code: cmd.ProcessState.ExitCode()}
	switch {
	case ctx.Err() != nil:
		return said{}, ctx.Err()
	case timed.Err() != nil:
		got.v = hangs
	case strings.Contains(got.why, "goroutine ") || strings.Contains(got.why, "panic"):
		got.v = panicked
	case failed == nil:
		got.rows, err = decode(out.Bytes())
	}
	return got, err
}

// decode returns the rows of the one query of an answer. Numbers keep their digits.
func decode(answer []byte) ([][]any, error) {
	var a struct {
		Queries map[string]struct{ Rows [][]any }
	}
	d := json.NewDecoder(bytes.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("posta's answer is no JSON: %w: %.200s", err, answer)
	}
	if len(a.Queries) != 1 {
		return nil, fmt.Errorf("%d answers", len(a.Queries))
	}
	for _, q := range a.Queries {
		return q.Rows, nil
	}
	return nil, nil
}
