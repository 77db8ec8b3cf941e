package parquet

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/format"
	"posta.dev/posta/rows/csv"
)

// Columns returns the columns of a file, with the types that the file declares, and the number of its rows. It reads the footer alone. A
// group is not a column; those below it are, and their names are paths.
func Columns(in io.ReaderAt, size int64) (columns []format.Column, rows int64, err error) {
	defer guard(&err)
	f, err := open(in, size, &budget{limit: MaxMemory})
	if err != nil {
		return nil, 0, err
	}
	root, leaves, err := tree(f.schema)
	if err != nil {
		return nil, 0, err
	}
	sizes := f.sizes(leaves)
	names, nodes := root.table()
	for i, n := range nodes {
		c := format.Column{Name: names[i], Bytes: n.bytes(sizes)}
		if c.Type, err = n.declared(); err != nil {
			c.Why = err.Error()
		}
		columns = append(columns, c)
	}
	return columns, f.rows, nil
}

// bytes returns how many bytes the values below a node have, from those of all leaves.
func (n *node) bytes(sizes []int64) (sum int64) {
	if n.leaf >= 0 {
		return sizes[n.leaf]
	}
	for _, c := range n.below {
		sum += c.bytes(sizes)
	}
	return sum
}

// table returns the columns below a group, with names that differ without regard to case. Lists, maps and VARIANTs are whole columns.
func (n *node) table() (names []string, nodes []*node) {
	var walk func(n *node, path string)
	walk = func(n *node, path string) {
		for _, c := range n.below {
			if c.leaf < 0 && len(c.below) > 0 && !(&place{node: c}).list() && c.logical != logicalVariant {
				walk(c, path+c.name+".")
				continue
			}
			names, nodes = append(names, path+c.name), append(nodes, c)
		}
	}
	walk(n, "")
	return csv.DistinctNames(names), nodes
}

// named returns the column that has a name in the table, nil if there is none.
func (n *node) named(name string) *node {
	if n.byName == nil {
		n.byName = map[string]*node{}
		names, nodes := n.table()
		for i, c := range nodes {
			n.byName[strings.ToLower(names[i])] = c
		}
	}
	return n.byName[strings.ToLower(name)]
}

// declared returns the type that SQL has for the values of a column. The error says what the column is, for one that is not read.
func (n *node) declared() (types.Type, error) {
	p := &place{node: n}
	switch {
	case n.logical == logicalVariant:
		return types.Type{}, errors.New("a VARIANT")
	case n.logical == logicalMap || n.converted == convertedMap || n.converted == convertedMapKeyValue:
		return types.Type{}, errors.New("a map")
	case p.list():
		return types.Type{}, errors.New("a list")
	case n.leaf < 0:
		return types.Type{}, errors.New("a group without columns")
	}
	if name := n.foreign(); name != "" {
		return types.Type{}, errors.New(name)
	}
	switch logical, _, _ := n.meaning(); {
	case n.kind == kindBool:
		return types.Of(types.Bool), nil
	case n.kind == kindFloat, n.kind == kindDouble, n.kind == kindFixed && logical == logicalFloat16:
		return types.Of(types.Double), nil
	case n.kind == kindInt96, n.kind == kindInt64 && logical == logicalTimestamp:
		return types.Of(types.Timestamp), nil
	case n.kind == kindInt32 && logical == logicalDate:
		return types.Of(types.Date), nil
	case logical == logicalDecimal:
		return n.decimal()
	case (n.kind == kindInt32 || n.kind == kindInt64) && logical != logicalTime:
		return types.Of(types.BigInt), nil
	}
	return types.Of(types.Text), nil
}

// decimal returns the type of a DECIMAL. One that does not say how many digits it has is taken to have all that SQL has.
func (n *node) decimal() (types.Type, error) {
	precision, scale := n.precision, n.scale
	if precision <= 0 {
		precision = types.MaxPrecision
	}
	if precision > types.MaxPrecision || scale < 0 || scale > precision {
		return types.Type{}, fmt.Errorf("a DECIMAL(%d, %d), of more than %d digits", precision, scale, types.MaxPrecision)
	}
	return types.DecimalOf(int(precision), int(scale)), nil
}

// foreign returns what a column of values is that are neither numbers nor texts nor times; "" if it is one of these.
func (e *element) foreign() string {
	logical, unit, _ := e.meaning()
	name := map[int]string{logicalBSON: "BSON", logicalInterval: "an INTERVAL", logicalVariant: "a VARIANT", logicalGeometry: "a GEOMETRY",
		logicalGeography: "a GEOGRAPHY"}[logical]
	switch {
	case name != "":
		return name
	case e.kind < kindBool || e.kind > kindFixed:
		return fmt.Sprintf("of a type that is not known (%d)", e.kind)
	case logical > logicalFloat16:
		return fmt.Sprintf("of a logical type that is not known (%d)", logical)
	case (logical == logicalTime || logical == logicalTimestamp) && (unit < 1 || unit > 3):
		return "of times in a unit that is not known"
	}
	return ""
}
