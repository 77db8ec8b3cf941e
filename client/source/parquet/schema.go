package parquet

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"posta.dev/posta/rows/csv"
)

// Repetitions of an element.
const (
	required = 0
	optional = 1
	repeated = 2
)

// Converted types are the older way to say what values mean, and logical types are the newer one. Only those that are used here have names.
const (
	convertedMap         = 1
	convertedMapKeyValue = 2
	convertedList        = 3

	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalEnum      = 4
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalVariant   = 16
	logicalGeometry  = 17
	logicalGeography = 18
)

// node is an element with the elements below it.
type node struct {
	*element
	below  []*node
	leaf   int              // index among the columns of the file; -1 for a group
	maxDef int              // definition level of a value that is not NULL
	maxRep int              // highest repetition level: in how many lists the element is
	byName map[string]*node // of the root: see named
}

// tree makes a tree of the schema, and counts its leaves.
func tree(schema []element) (root *node, leaves int, err error) {
	at := 0
	var build func(parent *node, depth int) (*node, error)
	build = func(parent *node, depth int) (*node, error) {
		if at == len(schema) || depth > maxNesting {
			return nil, damaged("the footer", "its columns do not form a tree")
		}
		n := &node{element: &schema[at], leaf: -1}
		at++
		if parent != nil {
			n.maxDef, n.maxRep = parent.maxDef, parent.maxRep
			switch n.repetition {
			case required:
			case optional:
				n.maxDef++
			case repeated:
				n.maxDef++
				n.maxRep++
			default:
				return nil, damaged("the footer", "column %.80q has repetition %d", n.name, n.repetition)
			}
			if n.kind >= 0 {
				n.leaf = leaves
				leaves++
				return n, nil
			}
		}
		if n.children < 0 || n.children > int64(len(schema)-at) {
			return nil, damaged("the footer", "group %.80q has %d columns", n.name, n.children)
		}
		for range n.children {
			child, err := build(n, depth+1)
			if err != nil {
				return nil, err
			}
			n.below = append(n.below, child)
		}
		return n, nil
	}
	if root, err = build(nil, 0); err != nil {
		return nil, 0, err
	}
	if at != len(schema) {
		return nil, 0, damaged("the footer", "its columns do not form a tree")
	}
	return root, leaves, nil
}

// step is a part of a path: a name, or the number of an item.
type step struct {
	name string
	item int // -1 for a name
}

// steps splits a path into its steps; nil if the text is not a path.
func steps(path string) (all []step) {
	for part := range strings.SplitSeq(path, ".") {
		name, rest, indexed := strings.Cut(part, "[")
		if name == "" {
			return nil
		}
		all = append(all, step{name, -1})
		for indexed {
			var number string
			number, rest, _ = strings.Cut(rest, "]")
			i, err := strconv.ParseUint(number, 10, 31)
			if err != nil || rest != "" && rest[0] != '[' {
				return nil
			}
			all = append(all, step{"", int(i)})
			if indexed = rest != ""; indexed {
				rest = rest[1:]
			}
		}
	}
	return all
}

// place is where the values of a column come from.
type place struct {
	*node
	items []int // by repetition level less 1: number of the wanted item
}

// child returns the element of a group that has a name, nil if there is none.
func (n *node) child(name string) (found *node, err error) {
	for _, c := range n.below {
		if c.name != name {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%w: column %q is there more than once, rename all but one", ErrColumn, name)
		}
		found = c
	}
	return found, nil
}

// find returns the column that is wanted, nil if there is none.
func (n *node) find(wanted csv.Column) (*place, error) {
	name := wanted.Name
	if wanted.Distinct {
		if found := n.named(name); found != nil {
			return (&place{node: found}).whole(name)
		}
	}
	all := []step{{name, -1}}
	found, err := n.child(name)
	if err != nil {
		return nil, err
	}
	if found == nil {
		all = steps(name)
	}
	if all == nil {
		return nil, nil
	}
	p := &place{node: n}
	for _, s := range all {
		if s.item >= 0 {
			if p.node = p.item(); p.node == nil {
				return nil, fmt.Errorf("%w: column %q: there is no list where it has [%d]", ErrColumn, name, s.item)
			}
			p.items = append(p.items, s.item)
			continue
		}
		if p.logical == logicalVariant {
			break
		}
		p.node, err = p.node.child(s.name)
		if p.node == nil || err != nil {
			return nil, err
		}
	}
	return p.whole(name)
}

// whole returns p if it has one value in each row.
func (p *place) whole(name string) (*place, error) {
	switch {
	case p.logical == logicalVariant:
		return nil, fmt.Errorf("%w: column %q is a VARIANT, which is not read; write it as text", ErrUnread, name)
	case p.list():
		return nil, fmt.Errorf("%w: column %q is a list; say which item is meant, as %[2]s[0]", ErrColumn, name)
	case p.leaf < 0 && len(p.below) > 0:
		return nil, fmt.Errorf("%w: column %q is a group; say which column of it is meant, as %[2]s.%s", ErrColumn, name, p.below[0].name)
	case p.leaf < 0:
		return nil, fmt.Errorf("%w: column %q is a group without columns", ErrColumn, name)
	case p.maxRep != len(p.items):
		return nil, fmt.Errorf("%w: column %q is in a list; say which item of it is meant, as a[0].b", ErrColumn, name)
	}
	return p, nil
}

// list reports whether a place is a whole list, or a map, which is a list of keys with values.
func (p *place) list() bool {
	return p.repetition == repeated && p.maxRep > len(p.items) || p.leaf < 0 && (p.logical == logicalList || p.logical == logicalMap ||
		p.converted == convertedList || p.converted == convertedMap || p.converted == convertedMapKeyValue)
}

// item returns the node of a list's items. It follows the rules of the format's LogicalTypes.md, also those for lists of older writers.
func (p *place) item() *node {
	n := p.node
	if n.repetition == repeated && n.maxRep > len(p.items) {
		return n
	}
	if n.leaf >= 0 || len(n.below) != 1 || n.below[0].repetition != repeated {
		return nil
	}
	of := n.below[0]
	if of.leaf >= 0 || len(of.below) != 1 || of.name == "array" || of.name == n.name+"_tuple" {
		return of
	}
	return of.below[0]
}

// findAll returns the columns that are wanted. An optional column that the file lacks is nil.
func (n *node) findAll(columns []csv.Column) ([]*place, error) {
	places := make([]*place, len(columns))
	some := false
	for i, c := range columns {
		if c.Unused {
			some = true
			continue
		}
		var err error
		if places[i], err = n.find(c); err != nil {
			return nil, err
		}
		if places[i] == nil && !c.Optional {
			return nil, fmt.Errorf("%w: there is no column %q; the file has %s", ErrColumn, c.Name, n.list())
		}
		some = some || places[i] != nil
	}
	if !some {
		return nil, fmt.Errorf("%w: it has none of the columns that are looked for; the file has %s", ErrColumn, n.list())
	}
	return places, nil
}

// list formats the names of columns for an error.
func (n *node) list() string {
	const most, longest = 40, 40
	var names []string
	for _, c := range n.below[:min(len(n.below), most)] {
		name := c.name
		if len(name) > longest {
			name = name[:longest] + "…"
		}
		names = append(names, strconv.Quote(name))
	}
	if len(n.below) > most {
		names = append(names, fmt.Sprintf("… (%d in all)", len(n.below)))
	}
	return strings.Join(slices.Clip(names), ", ")
}
