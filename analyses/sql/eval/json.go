package eval

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// jsonExtract is json_extract and ->, and with asText json_extract_string and ->>: the value at a path of a JSON text. A path
// that begins with $ goes several steps, such as '$.a.b[0]' and '$."odd key"'. Any other path is the name of one key. A
// missing value is NULL. With asText, so is null, and a string comes without its quotes. An object or an array is returned as
// JSON without blanks.
func jsonExtract(asText bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		return k.jsonExtract(asText, args, sel)
	}
}

func (k *function) jsonExtract(asText bool, args []*Vector, sel []int32) (int32, string) {
	at := jsonPath{}
	for _, i := range sel {
		v, err := at.find(args[0].Texts[i], args[1].Texts[i])
		if err != "" {
			return i, err
		}
		if why := k.room(len(v)); why != "" {
			return i, why
		}
		if s, is := jsonShown(v, asText); is {
			k.out.Texts[i] = s
		} else {
			k.out.SetNull(i)
		}
	}
	return ok, ""
}

// find returns the value at a path of a text, nil if there is none. More of the text may follow the value. It is valid until
// the next call.
func (p *jsonPath) find(text, path string) (v []byte, err string) {
	if !p.read || p.text != path {
		*p = parseJSONPath(path)
	}
	if p.err != "" {
		return nil, p.err
	}
	if p.scratch = append(p.scratch[:0], text...); !json.Valid(p.scratch) {
		return nil, fmt.Sprintf("%s is not JSON", clipped(text))
	}
	v = bytes.TrimLeft(p.scratch, jsonBlanks)
	for i := 0; i < len(p.steps) && v != nil; i++ {
		if p.steps[i].every {
			return nil, fmt.Sprintf("%s has a *, so it finds a list: write the path into the statement", clipped(p.text))
		}
		v = p.steps[i].of(v)
	}
	return v, ""
}

// jsonLength is json_array_length. It is 0 for a value that is not a list.
func jsonLength(k *function, args []*Vector, sel []int32) (int32, string) {
	at := jsonPath{}
	for _, i := range sel {
		path := "$"
		if len(args) > 1 {
			path = args[1].Texts[i]
		}
		v, err := at.find(args[0].Texts[i], path)
		switch {
		case strings.Contains(path, "*") && len(at.steps) > 0 && err != "":
			return i, fmt.Sprintf("%s has a *: json_array_length is of one list", clipped(path))
		case err != "":
			return i, err
		case v == nil:
			k.out.SetNull(i)
		case v[0] != '[':
			k.out.Ints[i] = 0
		default:
			n := int64(0)
			jsonItems(v, func([]byte) bool { n++; return true })
			k.out.Ints[i] = n
		}
	}
	return ok, ""
}

// jsonShown returns a value as the answer shows it; false for NULL.
func jsonShown(v []byte, asText bool) (string, bool) {
	switch v = bytes.TrimRight(v, jsonBlanks); {
	case len(v) == 0 || asText && v[0] == 'n':
		return "", false
	case asText && v[0] == '"':
		return unquoted(v), true
	case v[0] == '{' || v[0] == '[':
		var b bytes.Buffer
		_ = json.Compact(&b, v) // it is valid
		return b.String(), true
	}
	return string(v), true
}

// jsonItemsAt is jsonExtract for a path with *, which stands for every item of a list or every key of an object. It returns a
// list of the values found.
func jsonItemsAt(asText bool) kernel {
	return func(k *function, args []*Vector, sel []int32) (int32, string) {
		path := jsonPath{}
		var text []byte
		for _, i := range sel {
			if !path.read {
				path = parseJSONPath(args[1].Texts[i]) // the path is a constant
			}
			if path.err != "" {
				return i, path.err
			}
			if text = append(text[:0], args[0].Texts[i]...); !json.Valid(text) {
				return i, fmt.Sprintf("%s is not JSON", clipped(args[0].Texts[i]))
			}
			list, why := List{Items: []string{}}, ""
			path.walk(bytes.TrimLeft(text, jsonBlanks), 0, func(v []byte) {
				if why == "" {
					why = k.room(itemBytes + len(v))
				}
				if why != "" {
					return
				}
				s, is := jsonShown(v, asText)
				list.Items = append(list.Items, s)
				if !is && list.Nulls == nil {
					list.Nulls = make([]bool, len(list.Items)-1)
				}
				if list.Nulls != nil {
					list.Nulls = append(list.Nulls, !is)
				}
			})
			if why != "" {
				return i, why
			}
			k.out.Lists[i] = list
		}
		return ok, ""
	}
}

// walk calls found with each value that the steps from index step on lead to.
func (p *jsonPath) walk(v []byte, step int, found func([]byte)) {
	for ; step < len(p.steps) && v != nil; step++ {
		s := &p.steps[step]
		if !s.every {
			v = s.of(v)
			continue
		}
		next := func(item []byte) bool {
			p.walk(item, step+1, found)
			return true
		}
		switch {
		case s.list && v[0] == '[':
			jsonItems(v, next)
		case !s.list && v[0] == '{':
			jsonMembers(v, func(_, value []byte) bool { return next(value) })
		}
		return
	}
	if v != nil {
		found(v)
	}
}

const jsonBlanks = " \t\r\n"

// clipped shortens a text for an error.
func clipped(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return strconv.Quote(s)
}

type jsonPath struct {
	text  string
	read  bool
	steps []jsonStep
	err   string

	scratch []byte // the text of a key without its quotes
}

// jsonStep is a key, the index of an item (negative: from the end), or every key or item.
type jsonStep struct {
	key   string
	item  int
	list  bool
	every bool
}

func parseJSONPath(text string) jsonPath {
	p := jsonPath{text: text, read: true}
	rest, is := strings.CutPrefix(text, "$")
	if strings.HasPrefix(text, "/") {
		p.err = fmt.Sprintf("%s is a JSON pointer, which is not read: write '$.a.b[0]'", clipped(text))
	}
	if text == "" {
		return p // the whole value, as of $
	}
	if !is {
		p.steps = []jsonStep{{key: text}}
		return p
	}
	for rest != "" && p.err == "" {
		var step jsonStep
		good := false
		switch rest[0] {
		case '.':
			if quoted, is := strings.CutPrefix(rest, `."`); is {
				step.key, rest, good = strings.Cut(quoted, `"`)
				break
			}
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			step.key, rest = rest[1:end], rest[end:]
			if step.every = step.key == "*"; !step.every {
				good = step.key != "" && !strings.Contains(step.key, "*")
				break
			}
			good = true
		case '[':
			var at string
			at, rest, good = strings.Cut(rest[1:], "]")
			if step.list, step.every = true, at == "*"; step.every {
				break
			}
			n, err := strconv.Atoi(strings.TrimPrefix(at, "#"))
			step.item = n
			good = good && err == nil && (at[0] != '#' || n < 0)
		}
		if !good {
			p.err = fmt.Sprintf("%s is not a path of JSON: write a key, or as in '$.a.b[0]'", clipped(text))
		}
		p.steps = append(p.steps, step)
	}
	return p
}

// of goes one step into a valid value, which more text may follow. It returns the value there, with the text after it; nil if
// there is none.
func (s jsonStep) of(v []byte) []byte {
	if s.list {
		return s.itemOf(v)
	}
	if v[0] != '{' {
		return nil
	}
	var found []byte
	jsonMembers(v, func(key, value []byte) bool {
		if string(key[1:len(key)-1]) == s.key || bytes.IndexByte(key, '\\') >= 0 && unquoted(key) == s.key {
			found = value
		}
		return found == nil
	})
	return found
}

// jsonMembers calls do with the keys of an object, in quotes, and their values, until do returns false.
func jsonMembers(v []byte, do func(key, value []byte) bool) {
	for v = jsonNext(v[1:]); v[0] != '}'; {
		end := jsonEnd(v)
		key := v[:end]
		v = jsonNext(jsonNext(v[end:])[1:]) // after the colon
		end = jsonEnd(v)
		if !do(key, v[:end]) {
			return
		}
		if v = jsonNext(v[end:]); v[0] == ',' {
			v = jsonNext(v[1:])
		}
	}
}

func (s jsonStep) itemOf(v []byte) []byte {
	if v[0] != '[' {
		return nil
	}
	wanted := s.item
	if wanted < 0 {
		count := 0
		jsonItems(v, func([]byte) bool { count++; return true })
		if wanted += count; wanted < 0 {
			return nil
		}
	}
	var found []byte
	jsonItems(v, func(item []byte) bool {
		found = item
		wanted--
		return wanted >= 0
	})
	if wanted >= 0 {
		return nil
	}
	return found
}

// jsonItems calls do with the items of a list until do returns false.
func jsonItems(v []byte, do func(item []byte) bool) {
	for v = jsonNext(v[1:]); v[0] != ']'; {
		end := jsonEnd(v)
		if !do(v[:end]) {
			return
		}
		if v = jsonNext(v[end:]); v[0] == ',' {
			v = jsonNext(v[1:])
		}
	}
}

func jsonNext(v []byte) []byte { return bytes.TrimLeft(v, jsonBlanks) }

// jsonEnd returns the end of the valid value that v begins with.
func jsonEnd(v []byte) int {
	depth, text := 0, false
	for i := 0; i < len(v); i++ {
		c := v[i]
		switch {
		case text && c == '\\':
			i++
			continue
		case c == '"':
			text = !text
		case text:
			continue
		case c == '{' || c == '[':
			depth++
			continue
		case c == '}' || c == ']':
			if depth == 0 {
				return i // the end of a number
			}
			depth--
		case depth > 0:
			continue
		case c == ',' || c == ':' || strings.IndexByte(jsonBlanks, c) >= 0:
			return i
		default:
			continue
		}
		if depth == 0 && !text {
			return i + 1
		}
	}
	return len(v)
}

// unquoted returns the text of a JSON string.
func unquoted(v []byte) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return string(v[1 : len(v)-1])
	}
	var s string
	_ = json.Unmarshal(v, &s) // it is valid
	return s
}
