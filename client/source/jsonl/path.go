package jsonl

import (
	"strconv"
	"strings"

	"posta.dev/posta/rows/csv"
)

// node is a place in an object: which column is taken from it, and which places below it are needed.
type node struct {
	column int // -1 if none
	keys   map[string]*node
	items  map[int]*node
	brace  member // which stands before the first key
	known  map[string]*member
}

// newTree returns the node of the outermost object.
func newTree(columns []csv.Column) *node {
	root := &node{column: -1}
	for i, c := range columns {
		if c.Keyed {
			root.key(c.Key).column = i
			continue
		}
		root.key(c.Name).column = i
		if at := root.along(c.Name); at != nil {
			at.column = i
		}
	}
	return root
}

func (n *node) key(name string) *node {
	if n.keys == nil {
		n.keys = make(map[string]*node)
	}
	return child(n.keys, name)
}

func child[K comparable](of map[K]*node, k K) *node {
	if of[k] == nil {
		of[k] = &node{column: -1}
	}
	return of[k]
}

// along returns the node that a path like "a.b[0].c" leads to, nil if the name is not a path.
func (n *node) along(path string) *node {
	if !strings.ContainsAny(path, ".[") {
		return nil
	}
	type step struct {
		key  string
		item int // -1 for a key
	}
	var steps []step
	for _, part := range strings.Split(path, ".") {
		key, rest, indexed := strings.Cut(part, "[")
		if key == "" {
			return nil
		}
		steps = append(steps, step{key, -1})
		for indexed {
			var number string
			number, rest, _ = strings.Cut(rest, "]")
			i, err := strconv.ParseUint(number, 10, 31)
			if err != nil {
				return nil
			}
			steps = append(steps, step{"", int(i)})
			if rest == "" {
				break
			}
			if rest[0] != '[' {
				return nil
			}
			rest = rest[1:]
		}
	}
	for _, s := range steps {
		if s.item < 0 {
			n = n.key(s.key)
			continue
		}
		if n.items == nil {
			n.items = make(map[int]*node)
		}
		n = child(n.items, s.item)
	}
	return n
}
