package analyses

import (
	"fmt"

	"posta.dev/posta/rows/fold"
)

// Making makes the rows of one table from tables that stay in an aggregator ([Analysis.Finish]), part by part.
type Making struct {
	a      *Analysis
	args   Args
	table  int
	from   map[int]fold.Parted
	tables []*fold.Table // the argument of Finish
}

// NewMaking returns a Making for a table. from returns the rows of each table from which it is made.
func NewMaking(a *Analysis, args Args, table int, from func(table int) fold.Parted) *Making {
	m := &Making{a: a, args: args, table: table, from: map[int]fold.Parted{}}
	for i := range a.Tables {
		m.tables = append(m.tables, fold.NewTable(&a.Tables[i]))
	}
	for _, i := range a.MadeOf(table) {
		m.from[i] = from(i)
	}
	return m
}

// Tables returns the tables that Run works on, and the made one.
func (m *Making) Tables() (all []*fold.Table, made *fold.Table) { return m.tables, m.tables[m.table] }

// A made table is sent when it has more rows, or more bytes on the wire, than this.
const (
	madeRows  = 1 << 16
	madeBytes = 16 << 20
)

// Run makes the rows. Each time the table is large, it calls leave and then empties the table; the last rows stay in the table.
// How the rows are divided depends only on the rows.
func (m *Making) Run(leave func()) error {
	made := m.tables[m.table]
	full := func() {
		if made.Len() > madeRows || made.Page(0, made.Len(), madeBytes) < made.Len() {
			leave()
			made.Reset()
		}
	}
	for part := range fold.Parts {
		some := false
		for _, i := range m.a.MadeOf(m.table) {
			t := m.tables[i]
			t.Reset()
			if err := m.from[i].Part(part, t); err != nil {
				return fmt.Errorf("table %s: %w", t.Spec().Name, err)
			}
			some = some || t.Len() > 0
		}
		if !some {
			continue
		}
		if err := m.a.Finish(m.args, m.table, m.tables, full); err != nil {
			return err
		}
		if err := made.Err(); err != nil {
			return fmt.Errorf("table %s: %w", made.Spec().Name, err)
		}
		full()
	}
	return nil
}
