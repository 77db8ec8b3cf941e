package main

import (
	"bytes"
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/duckdb/duckdb-go/v2"

	analysis "posta.dev/posta/analyses/movies"
)

// Separators in results of functions: each name, or member of a cast, follows one. Lists would cost DuckDB's interface to Go
// more than splitting a text costs DuckDB.
const (
	beforeName   = "\x1f"
	beforeMember = "\x1e"
)

// errSeparator reports a name that contains a separator, and could be mistaken for two names.
var errSeparator = errors.New("a name holds a control byte that is used as a separator")

// functions registers the functions that SQL lacks:
//
//	names('[{"name": "A"}, {"name": "B"}]')   ␟A␟B, NULL if it is not a literal or an element lacks its name
//	members('[{"id": 7, "name": "C"}]')       ␞7␟C, likewise
//	compound('a text')                        the compound score of its sentiment
func (e *engine) functions() error {
	if _, err := analysis.NewSentiment(); err != nil { // reads the lexicon
		return err
	}
	text, err := duckdb.NewTypeInfo(duckdb.TYPE_VARCHAR)
	if err != nil {
		return err
	}
	number, err := duckdb.NewTypeInfo(duckdb.TYPE_DOUBLE)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		function
	}{
		{"names", function{text, text, listed(appendNames)}},
		{"members", function{text, text, listed(appendMembers)}},
		{"compound", function{text, number, compound()}},
	} {
		if err := duckdb.RegisterScalarUDF(e.conn, f.name, &f.function); err != nil {
			return fmt.Errorf("function %s: %w", f.name, err)
		}
	}
	return nil
}

// function is a duckdb.ScalarFunc of one text. DuckDB's threads call it concurrently.
type function struct {
	argument, result duckdb.TypeInfo
	of               func(string) (any, error)
}

// Config implements duckdb.ScalarFunc.
func (f *function) Config() duckdb.ScalarFuncConfig {
	return duckdb.ScalarFuncConfig{InputTypeInfos: []duckdb.TypeInfo{f.argument}, ResultTypeInfo: f.result}
}

// Executor implements duckdb.ScalarFunc.
func (f *function) Executor() duckdb.ScalarFuncExecutor {
	return duckdb.ScalarFuncExecutor{RowExecutor: func(v []driver.Value) (any, error) {
		s, ok := v[0].(string)
		if !ok {
			return nil, fmt.Errorf("the argument is a %T", v[0])
		}
		return f.of(s)
	}}
}

func compound() func(string) (any, error) {
	analyzers := sync.Pool{New: func() any {
		a, err := analysis.NewSentiment()
		if err != nil {
			return err
		}
		return a
	}}
	return func(s string) (any, error) {
		switch a := analyzers.Get().(type) {
		case analysis.Sentiment:
			defer analyzers.Put(a)
			return a.Compound([]byte(s)), nil
		case error:
			return nil, a
		}
		return nil, nil
	}
}

// listed returns a function that returns what appendTo finds in a list of dicts, and NULL if the list cannot be read.
func listed(appendTo func(dst []byte, f *analysis.Fields, literal []byte) ([]byte, error)) func(string) (any, error) {
	readers := sync.Pool{New: func() any { return new(analysis.Fields) }}
	return func(s string) (any, error) {
		f := readers.Get().(*analysis.Fields)
		defer readers.Put(f)
		b, err := appendTo([]byte{}, f, []byte(s))
		switch {
		case errors.Is(err, errSeparator):
			return nil, err
		case err != nil:
			return nil, nil
		}
		return string(b), nil
	}
}

func appendNames(dst []byte, f *analysis.Fields, literal []byte) ([]byte, error) {
	var separated error
	err := f.Names(literal, func(name []byte) {
		separated = errors.Join(separated, separable(name))
		dst = append(append(dst, beforeName...), name...)
	})
	return dst, errors.Join(err, separated)
}

func appendMembers(dst []byte, f *analysis.Fields, literal []byte) ([]byte, error) {
	var separated error
	err := f.Cast(literal, func(id int64, name []byte) {
		separated = errors.Join(separated, separable(name))
		dst = strconv.AppendInt(append(dst, beforeMember...), id, 10)
		dst = append(append(dst, beforeName...), name...)
	})
	return dst, errors.Join(err, separated)
}

func separable(name []byte) error {
	if bytes.ContainsAny(name, beforeName+beforeMember) {
		return errSeparator
	}
	return nil
}
