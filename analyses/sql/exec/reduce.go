package exec

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"posta.dev/posta/analyses/sql/exec/operators"
	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/protocol"
	"posta.dev/posta/rows/fold"
)

// Answering returns the leaves whose tables the reducer gets.
func (s *Fragments) Answering() (all []*Leaf) {
	for _, l := range s.Leaves {
		if l.Parts == nil {
			all = append(all, l)
		}
	}
	for _, r := range s.Regions {
		all = append(all, r.Leaf)
	}
	return all
}

// LeavesOf returns the leaves that a plan reads, and the leaves of the regions that these read.
func (s *Fragments) LeavesOf(root plan.Node) map[*Leaf]bool {
	read, seen := map[*Leaf]bool{}, map[plan.Node]bool{}
	var visit func(n plan.Node)
	visit = func(n plan.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if l := s.ByNode[n]; l != nil {
			read[l] = true
			if l.Region != nil {
				for _, from := range l.Region.Sources {
					read[from] = true
				}
			}
			return
		}
		for _, in := range append(plan.Inputs(n), Queries(plan.Exprs(n))...) {
			visit(in)
		}
	}
	visit(root)
	return read
}

// StreamName returns the name of a table. It is made unique if a name and a pattern are equal.
func (s *Fragments) StreamName(i int) string {
	short := func(name string) string {
		return strings.ToValidUTF8(name[:min(len(name), protocol.MaxName-10)], "")
	}
	name := short(s.Order[i].Table.Name)
	for _, other := range s.Order[:i] {
		if short(other.Table.Name) == name {
			return name + " " + Itoa(i+1)
		}
	}
	return name
}

// Spec describes the table that a leaf folds into.
func (l *Leaf) Spec(name, stream string) fold.Spec {
	switch l.Keep {
	case KeepGroups:
		return l.Groups.spec(name, stream)
	case KeepBest:
		return fold.Spec{Name: name, Stream: stream, Aggs: []fold.Agg{{Name: "best", Kind: fold.Least, N: l.Best.N}}}
	case KeepDistinct:
		return fold.Spec{Name: name, Stream: stream, Keys: []fold.Key{{Name: "row", Kind: fold.KeyText}},
			Aggs: []fold.Agg{{Name: "first", Kind: fold.MinText}}}
	case KeepParts:
		return l.partSpec(name, stream)
	}
	return fold.Spec{Name: name, Stream: stream, Merge: fold.Never,
		Keys: []fold.Key{{Name: "position", Kind: fold.KeyText}, {Name: "row", Kind: fold.KeyText}}}
}

// Reduce computes the rows of a statement from complete tables.
func (s *Fragments) Reduce(r *Root, tables []*fold.Table, emit func(row ...any)) error {
	most, memory := TailBytes, 0
	if len(tables) > 0 {
		memory = tables[0].Memory()
		most = withinMemory(TailBytes, memory)
	}
	src := &source{s: s, root: r, tables: tables, most: int64(most) / 2}
	x := operators.New(src, int64(most), r.Plan)
	defer x.Close()
	if len(tables) > 0 {
		x.SetPause(tables[0].Pause)
		x.SetScratch(tables[0].Scratch())
		x.Limit(memory)
	}
	err := x.Each(r.Plan, func(rows *operators.Batch) error {
		if r.Pass {
			emitPass(rows, emit)
			return nil
		}
		return emitRows(r.Plan.Fields(), rows, emit)
	})
	return lowered(s.located(err), most, TailBytes)
}

// lowered names limits.memory in an error about memory if that has lowered the bound.
func lowered(err error, most, bound int) error {
	if most == bound || !errors.Is(err, operators.ErrMemory) {
		return err
	}
	return fmt.Errorf("%w; limits.memory of the topology allows %d MiB", err, most>>20)
}

func Itoa(n int) string { return strconv.Itoa(n) }
