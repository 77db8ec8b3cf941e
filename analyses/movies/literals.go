package movies

import (
	"fmt"

	"posta.dev/posta/analyses"
	"posta.dev/posta/analyses/internal/pyliteral"
)

// names reads a list of dicts with a name.
type names struct {
	reader pyliteral.Reader
	packed []byte
	text   []byte
}

// read puts the names of a column into packed.
func (n *names) read(column string, literal []byte) error {
	n.packed = n.packed[:0]
	return elements(&n.reader, column, literal, func() string {
		found := false
		for n.reader.NextKey() {
			if string(n.reader.Key()) != "name" {
				continue
			}
			var name []byte
			if name, found = n.reader.Text(); found { // if a key occurs twice, the last one counts, as in Python
				n.text = append(n.text[:0], name...)
			}
		}
		if !found {
			return "name"
		}
		n.packed = packText(n.packed, n.text)
		return ""
	})
}

// joined returns the names with ", " between them; valid until the next call.
func (n *names) joined() []byte {
	n.text = n.text[:0]
	for rest := n.packed; len(rest) > 0; {
		name, after, err := cutText(rest)
		if err != nil {
			panic("movies: names packed by this process: " + err.Error())
		}
		if len(rest) < len(n.packed) {
			n.text = append(n.text, ", "...)
		}
		n.text = append(n.text, name...)
		rest = after
	}
	return n.text
}

// cast reads a list of dicts with an id and a name.
type cast struct {
	reader pyliteral.Reader
	packed []byte
	name   []byte
}

// read puts the members into packed.
func (c *cast) read(literal []byte) error {
	c.packed = c.packed[:0]
	return elements(&c.reader, "cast", literal, func() string {
		var id int64
		named, numbered := false, false
		for c.reader.NextKey() {
			switch string(c.reader.Key()) {
			case "name":
				var name []byte
				if name, named = c.reader.Text(); named {
					c.name = append(c.name[:0], name...)
				}
			case "id":
				id, numbered = c.reader.Int()
			}
		}
		switch {
		case !named:
			return "name"
		case !numbered:
			return "id"
		}
		c.packed = packText(packInt(c.packed, id), c.name)
		return ""
	})
}

// elements calls read in each dict of a list. read returns what the dict lacks, if anything. A syntax error anywhere in the
// literal takes precedence over what an element lacks.
func elements(r *pyliteral.Reader, column string, literal []byte, read func() (lacks string)) error {
	if len(literal) == 0 {
		return analyses.BadField(column, nil, "")
	}
	var lacking error
	r.Reset(literal)
	list := r.List()
	for n := 1; list && r.Next(); n++ {
		lacks := "name"
		if r.Dict() {
			lacks = read()
		}
		if lacks != "" && lacking == nil {
			lacking = fmt.Errorf("%s: element %d has no %s", column, n, lacks)
		}
	}
	switch err := r.End(); {
	case err != nil:
		return fmt.Errorf("%s: %w", column, err)
	case !list:
		return fmt.Errorf("%s is not a list", column)
	}
	return lacking
}
