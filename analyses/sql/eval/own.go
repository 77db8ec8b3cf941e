package eval

import (
	"posta.dev/posta/analyses/internal/isominutes"
	"posta.dev/posta/analyses/internal/pyliteral"
	"posta.dev/posta/analyses/internal/vader"
)

// sentiment is vader: the compound score of an English text.
func sentiment(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		if k.vader == nil {
			var err error
			if k.vader, err = vader.New(); err != nil {
				return i, err.Error()
			}
		}
		k.out.Floats[i] = k.vader.Compound([]byte(args[0].Texts[i]))
	}
	return ok, ""
}

// pythonList is python_list. It reads a list in Python's notation, and returns the list's texts, or the texts at a key of its
// dicts. A number is returned as it is written. The result is NULL if the text is not such a list.
func pythonList(k *function, args []*Vector, sel []int32) (int32, string) {
	var r pyliteral.Reader
	for _, i := range sel {
		r.Reset([]byte(args[0].Texts[i]))
		items, size, is := []string{}, 0, r.List()
		for is && r.Next() {
			var s string
			if len(args) == 1 {
				s, is = pythonText(&r)
			} else {
				s, is = pythonMember(&r, args[1].Texts[i])
			}
			items = append(items, s)
			size += itemBytes + len(s)
		}
		if why := k.room(size); why != "" {
			return i, why
		}
		if !is || r.End() != nil {
			k.out.SetNull(i)
			continue
		}
		k.out.Lists[i] = List{Items: items}
	}
	return ok, ""
}

func pythonText(r *pyliteral.Reader) (string, bool) {
	if n, is := r.Number(); is {
		return string(n), true
	}
	s, is := r.Text()
	return string(s), is
}

// pythonMember returns the text at a key of a dict. If the key occurs twice, its last value counts, as in Python.
func pythonMember(r *pyliteral.Reader, key string) (s string, is bool) {
	if !r.Dict() {
		return "", false
	}
	for r.NextKey() {
		if string(r.Key()) == key {
			s, is = pythonText(r)
		}
	}
	return s, is
}

// isoMinutes is iso_minutes: the minutes of an ISO 8601 duration, NULL if the text is not one.
func isoMinutes(k *function, args []*Vector, sel []int32) (int32, string) {
	for _, i := range sel {
		minutes, is := isominutes.Parse([]byte(args[0].Texts[i]))
		if k.out.Ints[i] = minutes; !is {
			k.out.SetNull(i)
		}
	}
	return ok, ""
}
