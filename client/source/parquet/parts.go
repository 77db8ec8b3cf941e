package parquet

import (
	"slices"
	"sync"

	"posta.dev/posta/client/source/format"
)

// partRows is how many rows a part has at least, unless the file ends: each part has a price of its own, and ends a chunk. It must not
// change, because a session may be resumed by another version of the program.
const partRows = 64 << 10

// number divides the row groups into parts, each of which is some row groups in a row.
func (c *Cutter) number() {
	part, rows := 0, int64(0)
	for i := range c.groups {
		g := &c.groups[i]
		if g.begins = i == 0; rows >= partRows {
			g.begins, rows = true, 0
			part++
		}
		g.part = part
		rows += g.rows
	}
	c.end = len(c.groups)
}

// Parts returns the parts of the file.
func (c *Cutter) Parts() (all []format.Part) {
	line := uint64(2)
	for i := range c.groups {
		g := &c.groups[i]
		if g.begins {
			all = append(all, format.Part{Number: g.part, Line: line, Empty: true})
		}
		p := &all[len(all)-1]
		p.Empty = p.Empty && (g.skip || g.rows == 0 || !c.wants(line, g.rows))
		p.Rows += g.rows
		line += uint64(g.rows)
	}
	return all
}

// wants reports whether a row is wanted of those from a line on.
func (c *Cutter) wants(line uint64, rows int64) bool {
	i, _ := slices.BinarySearch(c.lines, line)
	return c.lines == nil || i < len(c.lines) && c.lines[i] < line+uint64(rows)
}

// InPart returns the part of the last chunk.
func (c *Cutter) InPart() int { return c.part }

// Part returns a cutter for the chunks of one part, which are those that c would cut there. Both may be used at the same time; they share
// what was read of the footer. Part has to be called before c has cut anything.
func (c *Cutter) Part(number int) (_ *Cutter, err error) {
	defer guard(&err)
	p := *c
	p.group = slices.IndexFunc(c.groups, func(g groupOf) bool { return g.part == number })
	if p.group < 0 {
		return nil, damaged("the footer", "the file has no part %d", number)
	}
	for _, g := range c.groups[:p.group] {
		p.Done += g.rows
	}
	for p.end = p.group; p.end < len(c.groups) && c.groups[p.end].part == number; {
		p.end++
	}
	p.filter = nil
	if again := c.spare.take(); again != nil {
		p.shared, p.columns, p.writer, p.ahead = again.shared, again.columns, again.writer, again.ahead
		return &p, p.newFilter(number)
	}
	p.shared = &shared{file: c.shared.file, memory: &budget{used: c.shared.memory.used, limit: c.shared.memory.limit}}
	p.columns = nil
	for _, of := range c.columns {
		column, err := newColumn(p.shared, of.place)
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, column)
	}
	p.newWriters()
	return &p, p.newFilter(number)
}

// spare keeps the cutters of parts that have been cut to their ends, for their memory.
type spare struct {
	mu  sync.Mutex
	all []*Cutter
}

func (s *spare) take() (c *Cutter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.all); n > 0 {
		c, s.all = s.all[n-1], s.all[:n-1]
	}
	return c
}

func (s *spare) give(c *Cutter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, c)
}

// Memory estimates how many bytes the pages of a part take that are in memory at once: less than those of a row group, unpacked.
func (c *Cutter) Memory(number int) (most int64) {
	for i := range c.groups {
		n := int64(0)
		if c.groups[i].part == number {
			for k := range c.groups[i].metas {
				n += min(c.groups[i].metas[k].unpacked, mostSize)
			}
		}
		most = max(most, n)
	}
	return most
}
