package eval

import (
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/plan"

	"posta.dev/posta/analyses/sql/types"
)

// ofSplit has the kernels for functions of string_split(text, separator) that need no list: its length, and whether it has an
// item. Their arguments are those of string_split, then their own.
var ofSplit = map[string]kernel{"length": splitLength, "list_contains": splitContains}

// splits returns the kernel of a function of a list that string_split makes, nil for any other function.
func (c *compiler) splits(e *plan.Apply, out Vector) (node, error) {
	if len(e.Args) == 0 || ofSplit[e.Func] == nil {
		return nil, nil
	}
	list, is := e.Args[0].(*plan.Apply)
	if !is || list.Func != "string_split" {
		return nil, nil
	}
	f := &function{name: e.Func, made: c.of, run: ofSplit[e.Func], strict: true, at: e.At, t: e.T, out: out}
	for _, a := range append(append([]plan.Expr{}, list.Args...), e.Args[1:]...) {
		if a.Type().Kind != types.Text {
			return nil, nil
		}
		n, err := c.compile(a)
		if err != nil {
			return nil, err
		}
		f.args, f.types = append(f.args, n), append(f.types, a.Type())
	}
	f.values = make([]*Vector, len(f.args))
	return f, nil
}

func splitLength(k *function, args []*Vector, sel []int32) (int32, string) {
	last := int32(-1)
	for _, i := range sel {
		text, sep := args[0].Texts[i], args[1].Texts[i]
		switch {
		case last >= 0 && sameText(text, args[0].Texts[last]) && sameText(sep, args[1].Texts[last]):
			k.out.Ints[i] = k.out.Ints[last] // joins and UNNEST repeat a row's text
		case sep == "":
			k.out.Ints[i] = int64(max(1, utf8.RuneCountInString(text)))
		default:
			k.out.Ints[i] = int64(strings.Count(text, sep) + 1)
		}
		last = i
	}
	return ok, ""
}

func splitContains(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		text, sep, item := args[0].Texts[i], args[1].Texts[i], args[2].Texts[i]
		if sep == "" {
			parts := split(text, "")
			k.out.Bools[i] = len(parts) == 0 && item == ""
			for _, part := range parts {
				k.out.Bools[i] = k.out.Bools[i] || part == item
			}
			continue
		}
		found, more := false, true
		for part := ""; more && !found; found = part == item {
			part, text, more = strings.Cut(text, sep)
		}
		k.out.Bools[i] = found
	}
	return ok, ""
}
