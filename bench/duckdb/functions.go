package main

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/marcboeker/go-duckdb"

	"posta.dev/posta/analyses/internal/pyliteral"
	"posta.dev/posta/analyses/internal/vader"
)

// Separators of what functions return: each name, or member of a cast, follows one. Lists would cost DuckDB's interface to Go
// more than taking a text apart costs DuckDB.
const (
	beforeName   = "\x1f"
	beforeMember = "\x1e"
)

// errSeparator is of a name that could not be told from two.
var errSeparator = errors.New("a name holds a control byte that is used as a separator")

// functions registers those that SQL has no words for:
//
//	names('[{"name": "A"}, {"name": "B"}]')   ␟A␟B, NULL if it is no literal or an element lacks its name
//	members('[{"id": 7, "name": "C"}]')       ␞7␟C, likewise
//	compound('a text')                        the compound score of its sentiment
func (e *engine) functions() error {
	if _, err := vader.New(); err != nil { // reads the lexicon
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
		{"names", function{text, text, listed(nameOf)}},
		{"members", function{text, text, listed(memberOf)}},
		{"compound", function{text, number, compound()}},
	} {
		if err := duckdb.RegisterScalarUDF(e.conn, f.name, &f.function); err != nil {
			return fmt.Errorf("function %s: %w", f.name, err)
		}
	}
	return nil
}

// function is a duckdb.ScalarFunc of one text. Threads of DuckDB's call it at once.
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
		a, err := vader.New()
		if err != nil {
			return err
		}
		return a
	}}
	return func(s string) (any, error) {
		switch a := analyzers.Get().(type) {
		case *vader.Analyzer:
			defer analyzers.Put(a)
			return a.Compound([]byte(s)), nil
		case error:
			return nil, a
		}
		return nil, nil
	}
}

// listed reads a list of dicts: element appends what it finds in one, false if something is missing.
func listed(element func(r *pyliteral.Reader, b []byte) ([]byte, bool)) func(string) (any, error) {
	readers := sync.Pool{New: func() any { return new(pyliteral.Reader) }}
	return func(s string) (any, error) {
		r := readers.Get().(*pyliteral.Reader)
		defer readers.Put(r)
		r.Reset([]byte(s))
		whole, b := r.List(), []byte{}
		for n := 1; whole && r.Next(); n++ {
			if whole = r.Dict(); whole {
				b, whole = element(r, b)
			}
			if whole && strings.Count(string(b), beforeName) != n {
				return nil, errSeparator
			}
		}
		if !whole || r.End() != nil {
			return nil, nil
		}
		return string(b), nil
	}
}

// nameOf: of a key that is there twice the last counts, as in Python.
func nameOf(r *pyliteral.Reader, b []byte) ([]byte, bool) {
	at, found := len(b), false
	for r.NextKey() {
		if string(r.Key()) != "name" {
			continue
		}
		var name []byte
		if name, found = r.Text(); found {
			b = append(append(b[:at], beforeName...), name...)
		}
	}
	return b, found
}

func memberOf(r *pyliteral.Reader, b []byte) ([]byte, bool) {
	var id int64
	var name []byte
	named, numbered := false, false
	for r.NextKey() {
		switch string(r.Key()) {
		case "name":
			var v []byte
			if v, named = r.Text(); named {
				name = append(name[:0], v...)
			}
		case "id":
			id, numbered = r.Int()
		}
	}
	b = strconv.AppendInt(append(b, beforeMember...), id, 10)
	return append(append(b, beforeName...), name...), named && numbered
}
