package eval

import (
	"strings"
	"testing"
	"unicode/utf8"

	"posta.dev/posta/analyses/sql/plan"
	"posta.dev/posta/analyses/sql/types"
)

// plainLike is the plain twin of LIKE: % takes any number of characters, and _ one.
func plainLike(text, pattern string) bool {
	_, n := utf8.DecodeRuneInString(text)
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '%':
		return plainLike(text, pattern[1:]) || text != "" && plainLike(text[n:], pattern)
	case text == "":
		return false
	case pattern[0] == '_':
		return plainLike(text[n:], pattern[1:])
	}
	return text[0] == pattern[0] && plainLike(text[1:], pattern[1:])
}

// FuzzLike: LIKE with a constant pattern, LIKE with a column of it, and the plain twin agree, for NULL, too. So do those of ILIKE. The
// texts are separated by newlines.
func FuzzLike(f *testing.F) {
	for _, pattern := range []string{"", "%", "a", "%a", "a%", "%a%", "%%", "a%b", "%a%b%", "%ab%ba", "a_", "_%_", "%é", "é%é", "\xff%",
		"%\xa9", "aa%aa"} {
		f.Add(pattern, "a\nb\nab\naa\naaa\naaaa\nabba\nbaab\n\né\néé\nÉa\n\xc3\xa9\xff\n\xff\n\xc3\n%\n_", uint64(0b10010))
	}
	f.Fuzz(func(t *testing.T, pattern, joined string, nulls uint64) {
		if len(pattern) > 12 || len(joined) > 400 || strings.Count(pattern, "%") > 5 {
			return
		}
		texts := strings.Split(joined, "\n")
		columns := []*Vector{NewVector(types.Text, len(texts)), NewVector(types.Text, len(texts))}
		var sel []int32
		for i, text := range texts {
			columns[0].Texts[i], columns[1].Texts[i] = text, pattern
			if nulls>>(i%64)&1 == 1 {
				columns[0].SetNull(int32(i))
			}
			if i%5 < 4 {
				sel = append(sel, int32(i))
			}
		}
		of, text := plan.Base{T: types.Of(types.Bool)}, plan.Base{T: types.Of(types.Text)}
		run := func(name string, p plan.Expr) *Vector {
			program, err := Compile(&plan.Apply{Base: of, Func: name, Args: []plan.Expr{&plan.Column{Base: text, ID: 0}, p}},
				plan.Layout{0: 0, 1: 1})
			if err != nil {
				t.Fatal(err)
			}
			v, err := program.Run(columns, len(texts), sel)
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		for name, twin := range map[string]func(text string) bool{
			"LIKE":  func(text string) bool { return plainLike(text, pattern) },
			"ILIKE": func(text string) bool { return plainLike(lower(text), lower(pattern)) },
		} {
			constant, column := run(name, &plan.Const{Base: text, Value: pattern}), run(name, &plan.Column{Base: text, ID: 1})
			for _, i := range sel {
				null := columns[0].IsNull(i)
				if constant.IsNull(i) != null || column.IsNull(i) != null {
					t.Fatalf("%q %s %q: NULL", texts[i], name, pattern)
				}
				want := column.Bools[i]
				if utf8.ValidString(pattern) { // a part of a character may or may not match within one
					want = twin(texts[i])
				}
				if !null && (constant.Bools[i] != want || column.Bools[i] != want) {
					t.Fatalf("%q %s %q: %v of a constant, %v of a column, and not %v", texts[i], name, pattern, constant.Bools[i],
						column.Bools[i], want)
				}
			}
		}
	})
}
