package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// script runs one file of DuckDB's tests.
func (s *suite) script(ctx context.Context, path string) (err error) {
	steps, err := parseScript(path)
	if err != nil {
		return err
	}
	o, err := newOracle(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.db.Close()) }()
	tmp, err := os.MkdirTemp("", "posta-suites-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	dir, stale, states := "", true, 0
	return each(steps, nil, func(st step) error {
		place := fmt.Sprintf("%s:%d", path, st.line)
		if !st.query || !selects.MatchString(st.text) {
			if !setting.MatchString(st.text) {
				_ = o.do(ctx, st.text)
				stale = true
			}
			return ctx.Err()
		}
		want, refuses := o.ask(ctx, st.text)
		if stale {
			states++
			dir = filepath.Join(tmp, fmt.Sprint(states))
			if err := os.Mkdir(dir, 0o755); err != nil {
				return err
			}
			if _, err := o.export(ctx, dir); err != nil {
				return err
			}
			stale = false
		}
		if refuses != nil {
			return ctx.Err() // DuckDB cannot say what is right
		}
		return s.judge(ctx, place, dir, st.text, want)
	})
}

var selects = regexp.MustCompile(`(?is)^\s*(\(|SELECT\b|WITH\b|FROM\b|VALUES\b|SUMMARIZE\b|DESCRIBE\b)`)

// setting: posta has DuckDB's own defaults.
var setting = regexp.MustCompile(`(?i)^\s*(SET|PRAGMA|RESET)\b`)

// internal are words of nodes. A statement that only a node refuses has passed the checks of its meaning by mistake.
var internal = regexp.MustCompile(`bad (plan|analysis|table spec)|\(bad_\w+\)`)

// judge asks posta, and compares.
func (s *suite) judge(ctx context.Context, place, dir, query string, want [][]any) error {
	got, err := s.ask(ctx, dir, query)
	switch {
	case err != nil:
		return err
	case got.v != "":
		s.note(got.v, place, query, tail(got.why))
	case got.code != 0 && internal.MatchString(got.why):
		s.note(wrong, place, query, "it is refused, but in no words of a user: "+got.why)
	case got.code == 2:
		s.note(refused, place, query, got.why)
	case got.code != 0:
		s.note(failed, place, query, got.why)
	default:
		why := compare(query, got.rows, want)
		switch {
		case why == "":
			s.note(equal, place, query, "")
		case known(query) != "":
			s.note(deliberate, place, query, why)
		default:
			s.note(wrong, place, query, why)
		}
	}
	return nil
}

// parquetFile compares all rows of one file.
func (s *suite) parquetFile(ctx context.Context, path string) (err error) {
	o, err := newOracle(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.db.Close()) }()
	query := "SELECT * FROM '" + filepath.Base(path) + "'"
	there, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	want, refuses := o.askFile(ctx, there)
	if refuses == nil {
		return s.judge(ctx, path, filepath.Dir(path), query, want)
	}
	got, err := s.ask(ctx, filepath.Dir(path), query)
	switch {
	case err != nil:
		return err
	case got.v != "":
		s.note(got.v, path, query, tail(got.why))
	case got.code == 0:
		s.note(wrong, path, query, fmt.Sprintf("posta answers %d rows; DuckDB: %v", len(got.rows), refuses))
	default:
		s.note(refused, path, query, got.why)
	}
	return nil
}

// tail shortens a dump of goroutines.
func tail(why string) string {
	if len(why) > 2000 {
		return why[:2000] + " …"
	}
	return why
}
