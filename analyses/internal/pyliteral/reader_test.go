package pyliteral_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"posta.dev/posta/analyses/internal/pyliteral"
	"posta.dev/posta/test/oracle/pyliteral"
)

// eval builds the value of a literal with a Reader.
func eval(s string) (any, error) {
	var r pyliteral.Reader
	r.Reset([]byte(s))
	v := build(&r, s)
	if err := r.End(); err != nil {
		return nil, err
	}
	return v, nil
}

// build reads the next value. It finds the value's kind by asking for each kind in a copy of the reader.
func build(r *pyliteral.Reader, s string) any {
	for _, ask := range []func(*pyliteral.Reader) (any, bool){
		func(r *pyliteral.Reader) (any, bool) { v, ok := r.Text(); return string(v), ok },
		func(r *pyliteral.Reader) (any, bool) { v, ok := r.Int(); return v, ok },
		func(r *pyliteral.Reader) (any, bool) { v, ok := r.Float(); return v, ok },
		func(r *pyliteral.Reader) (any, bool) { v, ok := r.Bool(); return v, ok },
		func(r *pyliteral.Reader) (any, bool) { return nil, r.None() },
	} {
		trial := *r
		if v, ok := ask(&trial); ok {
			*r = trial
			return v
		}
	}
	trial := *r
	if trial.List() {
		*r = trial
		list := []any{}
		for r.Next() {
			list = append(list, build(r, s))
		}
		return list
	}
	trial = *r
	if trial.Dict() {
		*r = trial
		dict := map[any]any{}
		for r.NextKey() {
			k := r.Key()
			if k == nil {
				r.Skip()
				continue
			}
			name := string(k)
			dict[name] = build(r, s)
		}
		return dict
	}
	r.Skip()
	return nil
}

// known converts a naive value to what a Reader returns: without tuples, without keys that are not text, and with large
// integers as floats.
func known(v any) any {
	switch v := v.(type) {
	case []any:
		list := []any{}
		for _, x := range v {
			list = append(list, known(x))
		}
		return list
	case map[any]any:
		dict := map[any]any{}
		for k, x := range v {
			if name, ok := k.(string); ok {
				dict[name] = known(x)
			}
		}
		return dict
	case naive.Tuple:
		return nil
	case naive.Big:
		if f, err := strconv.ParseFloat(string(v), 64); err == nil {
			return f
		}
		return nil
	}
	return v
}

func compare(t *testing.T, s string) bool {
	t.Helper()
	want, wantErr := naive.Eval(s)
	got, err := eval(s)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%q: error %v, want %v", s, err, wantErr)
	}
	if err != nil && !errors.Is(err, pyliteral.ErrSyntax) {
		t.Fatalf("%q: %T", s, err)
	}
	if err == nil && !reflect.DeepEqual(got, known(want)) {
		t.Fatalf("%q: %#v, want %#v", s, got, known(want))
	}
	return err == nil
}

var atoms = strings.Split(`'a'|"b"|'D\'Arcy'|"it's"|''|""|'\n\t\\\a\b\f\r\v\"'|'\x41\101\0\777\8'|'\u00e9\U0001F600\ud83d'|'é'|u'x'|U"y"|`+
	`'\q\`+"\n"+`z'|'a longer text, of more than eight bytes'|"\x4"|'\N{DOT}'|1|0|-7|+8|00|007|1.5|.5|5.|1e3|2E-7|-0.0|12a|1_0|0x1f|`+
	`9223372036854775807|-9223372036854775808|9223372036854775808|1e400|None|True|False|none|Nonesuch|u|'open|1e|.|-`, "|")

var keys = []string{`'id'`, `"name"`, `'a\'b'`, `''`, `u'id'`, `1`, `None`, `'\x41'`}

// literal writes a literal, most often a valid one.
func literal(r *rand.Rand, depth int) string {
	space := func() string { return []string{"", "", " ", "\n", "\t ", "\r\n"}[r.IntN(6)] }
	if depth == 0 || r.IntN(3) == 0 {
		n := len(atoms)
		if r.IntN(20) > 0 {
			n -= 5
		}
		return atoms[r.IntN(n)]
	}
	kind := r.IntN(3)
	n := r.IntN(5)
	var items []string
	for range n {
		item := literal(r, depth-1)
		if kind == 2 {
			item = keys[r.IntN(len(keys))] + space() + ":" + space() + item
		}
		items = append(items, space()+item+space())
	}
	end := ""
	if n > 0 && (kind == 1 && n == 1 || r.IntN(6) == 0) {
		end = "," + space()
	}
	return "[({"[kind:kind+1] + strings.Join(items, ",") + end + "])}"[kind:kind+1]
}

// damage changes a byte or cuts the end off.
func damage(r *rand.Rand, s string) string {
	if s == "" {
		return s
	}
	i := r.IntN(len(s))
	switch r.IntN(3) {
	case 0:
		return s[:i]
	case 1:
		return s[:i] + string("[](){},:'\"\\ \n0a\x00\x80"[r.IntN(17)]) + s[i+1:]
	}
	return s[:i] + string("[](){},:'\"\\ \n0a\x00\x80"[r.IntN(17)]) + s[i:]
}

func TestValuesAndFaultsAreThoseOfTheNaiveReader(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	sound := 0
	for range 10000 {
		s := literal(r, 1+r.IntN(4))
		if r.IntN(3) == 0 {
			s = damage(r, s)
		}
		if compare(t, s) {
			sound++
		}
	}
	if sound < 2000 || sound > 8000 {
		t.Errorf("%d of 10000 are sound", sound)
	}
}

func TestFaultsSayWhereAndWhat(t *testing.T) {
	for s, want := range map[string]string{
		"":                                 "a value at offset 0",
		"[1 2]":                            ", or ] at offset 3",
		"[1,,2]":                           "a value at offset 3",
		"{'a' 1}":                          ": at offset 5",
		"{[1]: 2}":                         "a key at offset 1",
		"['abc":                            "the closing ' at offset 5",
		"[\"a\nb\"]":                       "the closing \" at offset 3",
		"[1] x":                            "the end at offset 4",
		"(1)":                              ", as in a tuple of one at offset 2",
		"['\\x4']":                         "two hexadecimal digits at offset 2",
		"[007]":                            "a number without zeros before it at offset 1",
		"[" + strings.Repeat("1", 4301):    "a number of at most 4300 digits at offset 1",
		strings.Repeat("[", 65):            "at most 64 levels of nesting at offset 64",
		"\n[1]":                            "a value at offset 0",
		"[1":                               ", or ] at offset 2",
		"['''a''']":                        ", or ] at offset 3",
		"{'a': [1, {'b': (2, 3, None]}]}":  ", or ) at offset 27",
		"['" + strings.Repeat("x", 100000): "the closing ' at offset 100002",
	} {
		_, err := eval(s)
		var e *pyliteral.Error
		if !errors.As(err, &e) || fmt.Sprintf("%s at offset %d", e.Expected, e.Offset) != want {
			t.Errorf("%.20q: %v, want %s", s, err, want)
		}
		compare(t, s)
	}
}

// TestUnreadValuesAreSkipped reads only parts, in every combination of reading and leaving.
func TestUnreadValuesAreSkipped(t *testing.T) {
	p := []byte(`[{'id': 1, 'name': 'a', 'x': [1, {'y': (2,)}]}, 7, {'name': "b", 'id': 2}, {'name': None}, 'z']`)
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		var reader pyliteral.Reader
		reader.Reset(p)
		wander(&reader, r)
		if err := reader.End(); err != nil {
			t.Fatal(err)
		}
	}
	var reader pyliteral.Reader
	reader.Reset(p)
	var names []string
	for reader.List(); reader.Next(); {
		if !reader.Dict() {
			names = append(names, "-")
			continue
		}
		for reader.NextKey() {
			if string(reader.Key()) == "name" {
				name, ok := reader.Text()
				names = append(names, fmt.Sprint(string(name), ok))
			}
		}
	}
	if got := strings.Join(names, " "); got != "atrue - btrue false -" || reader.End() != nil {
		t.Errorf("%s, %v", got, reader.Err())
	}
}

func wander(r *pyliteral.Reader, random *rand.Rand) {
	switch random.IntN(8) {
	case 0:
		r.Text()
	case 1:
		r.Int()
	case 2:
		r.None()
	case 3:
		r.Skip()
	case 4, 5:
		for r.List() || r.Next() {
			wander(r, random)
		}
	case 6:
		for ok := r.Dict() && r.NextKey(); ok; ok = r.NextKey() {
			wander(r, random)
		}
	}
}

func TestAReaderAfterAFaultReadsTheNextLiteral(t *testing.T) {
	var r pyliteral.Reader
	r.Reset([]byte("[{'a': "))
	r.List()
	r.Next()
	r.Dict()
	r.NextKey()
	if v, ok := r.Int(); ok || r.End() == nil || r.Next() || r.List() {
		t.Errorf("%d %v %v", v, ok, r.Err())
	}
	r.Reset([]byte("[5]"))
	r.List()
	r.Next()
	if v, ok := r.Int(); v != 5 || !ok || r.End() != nil {
		t.Errorf("%d %v %v", v, ok, r.Err())
	}
}

func FuzzReader(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 100 {
		f.Add(literal(r, 3))
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) < 1<<12 {
			compare(t, s)
		}
	})
}

// cast looks like a column of credits.csv.
func cast() []byte {
	var b strings.Builder
	b.WriteByte('[')
	for i := range 40 {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, `{'cast_id': %d, 'character': "Mr. D'Arcy %d", 'credit_id': '52fe4284c3a36847f8%06d', 'gender': 2, 'id': %d, `+
			`'name': 'Somebody Famous', 'order': %d, 'profile_path': '/pQFoyx7rp09CJTAb932F2g8Nlho.jpg'}`, i, i, i, 100000+i, i)
	}
	return append([]byte(b.String()), ']')
}

func members(r *pyliteral.Reader, p []byte) (n int, err error) {
	r.Reset(p)
	for r.List(); r.Next(); {
		for ok := r.Dict() && r.NextKey(); ok; ok = r.NextKey() {
			switch string(r.Key()) {
			case "id":
				if _, ok := r.Int(); ok {
					n++
				}
			case "name":
				r.Text()
			}
		}
	}
	return n, r.End()
}

func TestNothingIsAllocated(t *testing.T) {
	var r pyliteral.Reader
	p := cast()
	if n := testing.AllocsPerRun(100, func() {
		if n, err := members(&r, p); n != 40 || err != nil {
			t.Errorf("%d %v", n, err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkCast(b *testing.B) {
	var r pyliteral.Reader
	p := cast()
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		if _, err := members(&r, p); err != nil {
			b.Fatal(err)
		}
	}
}
