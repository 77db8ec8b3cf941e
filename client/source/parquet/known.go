package parquet

import (
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// Known implements format.Knowing.
func (Format) Known(in *format.File, columns []csv.Column) (rows int64, known []csv.Known, ok bool, err error) {
	if len(columns) == 0 {
		_, rows, err = Columns(in.At, in.At.Size())
		return rows, nil, true, err
	}
	c, err := NewCutter(in.At, in.At.Size(), columns, 0, 1, 1)
	if err != nil {
		return 0, nil, false, err
	}
	known, ok, err = c.known()
	return c.Rows(), known, ok, err
}

// known returns what the footer says about the needed columns. Of items of lists, it says nothing about the one that is needed.
func (c *Cutter) known() (all []csv.Known, ok bool, err error) {
	defer guard(&err)
	for _, at := range c.given {
		if at < 0 || c.columns[at].maxRep > 0 {
			return nil, false, nil
		}
		all = append(all, csv.Known{Counted: true})
	}
	f := c.shared.file
	err = f.eachGroup(c.wanted, c.leaves, func(_ int, g *group) error {
		for i, at := range c.given {
			k, s := &all[i], &g.stats[at]
			r := csv.Range{Kind: csv.KindNone}
			if g.rows > 0 && !s.inexact {
				r = c.columns[at].rangeOf(s, g.columns[at].values)
			}
			// A text may be cut short, whatever the file says, and some writers compare long decimals as texts.
			if s.inexact || r.Kind == csv.KindBytes || r.Kind == csv.KindDecimal && c.columns[at].texts.bytes != nil {
				r = csv.Range{}
			}
			k.Ranges = append(k.Ranges, r)
			k.Values += g.rows
			if c.columns[at].maxDef > 0 {
				k.Values -= s.nulls
				k.Counted = k.Counted && s.counted && 0 <= s.nulls && s.nulls <= g.rows
			}
		}
		return nil
	})
	return all, true, err
}
