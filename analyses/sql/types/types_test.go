package types_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"posta.dev/posta/analyses/sql/functions"
	. "posta.dev/posta/analyses/sql/types"
)

// typ parses a type as the tests write it.
func typ(t *testing.T, s string) Type {
	t.Helper()
	name, digits, has := strings.Cut(s, "(")
	if s == "NULL" {
		return Of(Null)
	}
	var args []int
	if has {
		for _, d := range strings.Split(strings.TrimSuffix(digits, ")"), ",") {
			args = append(args, int(d[0]-'0'))
			if len(d) == 2 {
				args[len(args)-1] = args[len(args)-1]*10 + int(d[1]-'0')
			}
		}
	}
	name, list := strings.CutSuffix(name, "[]")
	ty, _, err := Parse(name, args, list)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return ty
}

// The results are DuckDB's, except that the results of a BIGINT with a DECIMAL have 18 digits.
func TestQ5_TypesOfOperators(t *testing.T) {
	for _, c := range []string{
		"BIGINT + BIGINT = BIGINT", "BIGINT / BIGINT = DOUBLE", "BIGINT // BIGINT = BIGINT", "BIGINT % DOUBLE = DOUBLE",
		"BIGINT * NULL = BIGINT", "NULL + NULL = BIGINT",
		"DECIMAL(9,2) + DECIMAL(5,4) = DECIMAL(12, 4)", "DECIMAL(9,2) * DECIMAL(5,4) = DECIMAL(14, 6)",
		"DECIMAL(9,2) % DECIMAL(5,4) = DECIMAL(11, 4)", "DECIMAL(9,2) // DECIMAL(5,4) = error", "DOUBLE // BIGINT = error",
		"DECIMAL(9,2) * BIGINT = DECIMAL(18, 2)", "BIGINT + DECIMAL(2,1) = DECIMAL(18, 1)", "DECIMAL(18,2) - DECIMAL(18,2) = DECIMAL(18, 2)",
		"DECIMAL(9,2) / DECIMAL(9,2) = DOUBLE", "DECIMAL(9,2) + DOUBLE = DOUBLE",
		"DATE + BIGINT = DATE", "DATE - DATE = BIGINT", "DATE + INTERVAL = TIMESTAMP", "INTERVAL + DATE = TIMESTAMP",
		"TIMESTAMP - TIMESTAMP = INTERVAL", "TIMESTAMP - DATE = INTERVAL", "INTERVAL * BIGINT = INTERVAL",
		"TEXT || BIGINT = TEXT", "DATE || TEXT = TEXT", "TEXT ~ TEXT = BOOLEAN", "TEXT ->> TEXT = TEXT", "BOOLEAN AND NULL = BOOLEAN",
		"DATE < TIMESTAMP = BOOLEAN", "BIGINT <> DECIMAL(3,1) = BOOLEAN", "DOUBLE IS_DISTINCT_FROM NULL = BOOLEAN",
		"TEXT + BIGINT = error", "TEXT = BIGINT = error", "BOOLEAN = BIGINT = error", "BIGINT AND BOOLEAN = error", "TIMESTAMP + BIGINT = error",
		"TIMESTAMP + TIMESTAMP = error", "TEXT[] = TEXT[] = error",
		"DECIMAL(18,10) * DECIMAL(18,9) = error", "INTERVAL / BIGINT = error", "BIGINT ~ TEXT = error", "TEXT[] || TEXT = error",
		"BOOLEAN + BIGINT = error",
	} {
		i := strings.LastIndex(c, " = ")
		want := c[i+3:]
		f := strings.Fields(c[:i])
		form, err := Binary(strings.ReplaceAll(f[1], "_", " "), typ(t, f[0]), typ(t, f[2]))
		got := form.Result.String()
		if err != nil {
			got = "error"
			if !errors.Is(err, ErrType) {
				t.Errorf("%s: %v wraps no ErrType", c, err)
			}
		}
		if got != want {
			t.Errorf("%s: got %s, %v", c, got, err)
		}
	}
}

func TestQ5_CommonTypes(t *testing.T) {
	for _, c := range [][3]string{
		{"BIGINT", "DOUBLE", "DOUBLE"}, {"BIGINT", "DECIMAL(3,1)", "DECIMAL(18, 1)"}, {"DECIMAL(9,2)", "DECIMAL(5,4)", "DECIMAL(11, 4)"},
		{"DECIMAL(9,2)", "DOUBLE", "DOUBLE"},
		{"DATE", "TIMESTAMP", "TIMESTAMP"}, {"NULL", "TEXT", "TEXT"}, {"NULL", "NULL", "NULL"}, {"TEXT", "BIGINT", ""},
		{"BOOLEAN", "BIGINT", ""}, {"DATE", "TEXT", ""}, {"INTERVAL", "TIMESTAMP", ""},
	} {
		for _, swap := range []bool{false, true} {
			a, b := typ(t, c[0]), typ(t, c[1])
			if swap {
				a, b = b, a
			}
			got, err := Common(a, b)
			if err == nil && got.String() != c[2] || err != nil && c[2] != "" {
				t.Errorf("%s and %s: %s, %v; want %s", a, b, got, err, c[2])
			}
		}
	}
}

func TestQ5_TypesOfNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"1": "BIGINT", "9223372036854775807": "BIGINT", "9223372036854775808": "", "99999999999999999999": "", ".5": "DECIMAL(1, 1)",
		"0.5": "DECIMAL(2, 1)", "1.50": "DECIMAL(3, 2)", "5.": "DECIMAL(1, 0)",
		"1e3": "DOUBLE", "1.5E-3": "DOUBLE", "123456789.0123456789": "", "123456789.012345678": "DECIMAL(18, 9)",
	} {
		got, err := Number(text)
		if err == nil && got.String() != want || err != nil && want != "" {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestQ4_NamesOfTypes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []int
		list bool
		want string
	}{
		{"INT", nil, false, "BIGINT"}, {"VARCHAR", nil, false, "TEXT"}, {"VARCHAR", nil, true, "TEXT[]"},
		{"NUMERIC", nil, false, "DECIMAL(18, 3)"}, {"DECIMAL", []int{9}, false, "DECIMAL(9, 0)"},
		{"DECIMAL", []int{19, 2}, false, ""}, {"DECIMAL", []int{5, 6}, false, ""}, {"DECIMAL", []int{0}, false, ""},
		{"DECIMAL", []int{1, 1, 1}, false, ""}, {"VARCHAR", []int{20}, false, ""}, {"INT", nil, true, ""}, {"HUGEINT", nil, false, ""},
		{"NOTHING", nil, false, ""},
	} {
		got, r, err := Parse(c.name, c.args, c.list)
		if err == nil && got.String() != c.want || err != nil && c.want != "" {
			t.Errorf("%s: %s, %v; want %s", c.name, got, err, c.want)
		}
		if (r != nil) != (c.name == "INT" && err == nil) {
			t.Errorf("%s: range %v", c.name, r)
		}
		if e := (*Error)(nil); err != nil && (!errors.As(err, &e) || e.Hint == "") {
			t.Errorf("%s: %v has no hint", c.name, err)
		}
	}
}

func TestQ5_TypesOfFunctions(t *testing.T) {
	for _, c := range []struct {
		name, args, want string
		consts           []any
	}{
		{"coalesce", "BIGINT NULL DECIMAL(2,1)", "DECIMAL(18, 1)", nil}, {"greatest", "DATE TIMESTAMP", "TIMESTAMP", nil},
		{"nullif", "TEXT BIGINT", "", nil}, {"if", "BOOLEAN BIGINT DOUBLE", "DOUBLE", nil},
		{"length", "TEXT", "BIGINT", nil}, {"len", "TEXT[]", "BIGINT", nil}, {"length", "BIGINT", "", nil},
		{"substring", "TEXT BIGINT", "TEXT", nil}, {"substring", "TEXT", "", nil}, {"substring", "TEXT BIGINT BIGINT BIGINT", "", nil},
		{"concat", "TEXT BIGINT NULL DATE", "TEXT", nil}, {"concat_ws", "TEXT BIGINT", "TEXT", nil}, {"concat", "", "", nil},
		{"abs", "DECIMAL(2,1)", "DECIMAL(2, 1)", nil}, {"sign", "DECIMAL(2,1)", "BIGINT", nil}, {"floor", "DECIMAL(3,2)", "DECIMAL(3, 0)", nil},
		{"ceil", "BIGINT", "DOUBLE", nil}, {"sqrt", "BIGINT", "DOUBLE", nil}, {"sqrt", "TEXT", "", nil},
		{"round", "DECIMAL(9,2) BIGINT", "DECIMAL(9, 1)", []any{nil, int64(1)}}, {"round", "DECIMAL(9,2)", "DECIMAL(9, 0)", nil},
		{"round", "DECIMAL(9,2) BIGINT", "", nil}, {"round", "DOUBLE BIGINT", "DOUBLE", nil}, {"round", "BIGINT BIGINT", "BIGINT", nil},
		{"mod", "DECIMAL(2,1) BIGINT", "DECIMAL(18, 1)", nil}, {"log", "BIGINT DOUBLE", "DOUBLE", nil}, {"pi", "", "DOUBLE", nil},
		{"date_part", "TEXT DATE", "BIGINT", []any{"Year", nil}}, {"date_part", "TEXT TIMESTAMP", "DOUBLE", []any{"epoch", nil}},
		{"date_part", "TEXT TIMESTAMP", "", []any{"eon", nil}}, {"date_part", "TEXT DATE", "", nil},
		{"date_trunc", "TEXT DATE", "TIMESTAMP", nil}, {"time_bucket", "INTERVAL DATE", "DATE", nil}, {"year", "NULL", "BIGINT", nil},
		{"year", "TEXT", "", nil},
		{"sum", "BIGINT", "BIGINT", nil}, {"sum", "DECIMAL(9,2)", "DECIMAL(18, 2)", nil}, {"sum", "DOUBLE", "DOUBLE", nil},
		{"sum", "TEXT", "", nil}, {"avg", "DECIMAL(9,2)", "DOUBLE", nil}, {"avg", "DATE", "TIMESTAMP", nil},
		{"median", "BIGINT", "DOUBLE", nil}, {"median", "DECIMAL(9,2)", "DECIMAL(9, 2)", nil},
		{"quantile_cont", "DATE DECIMAL(1,1)", "TIMESTAMP", nil}, {"quantile_disc", "DECIMAL(9,2) DOUBLE", "DECIMAL(9, 2)", nil},
		{"count", "", "BIGINT", nil}, {"count", "TEXT", "BIGINT", nil}, {"arg_max", "TEXT DATE", "TEXT", nil}, {"list", "TEXT", "TEXT[]", nil},
		{"lag", "BIGINT BIGINT DOUBLE", "DOUBLE", nil},
		{"list_contains", "TEXT[] TEXT", "BOOLEAN", nil}, {"haversine_km", "BIGINT DOUBLE DOUBLE DECIMAL(3,1)", "DOUBLE", nil},
	} {
		var args []Arg
		for i, s := range strings.Fields(c.args) {
			a := Arg{Type: typ(t, s)}
			if c.consts != nil {
				a.Const = c.consts[i]
			}
			args = append(args, a)
		}
		form, err := functions.Find(c.name).Resolve(args)
		if err == nil && form.Result.String() != c.want || err != nil && c.want != "" {
			t.Errorf("%s(%s): %s, %v; want %s", c.name, c.args, form.Result, err, c.want)
		}
		if err != nil && !errors.Is(err, ErrType) {
			t.Errorf("%s(%s): %v wraps no ErrType", c.name, c.args, err)
		}
	}
}

// Every form can be parsed and has a result, every name occurs once, and every function has its line.
func TestQ4_TheCatalogueIsWhole(t *testing.T) {
	known := append(slices.Clone(KindNames), "T", "N", "D", "ANY")
	results := append(slices.Clone(KindNames), "T", "N", "D", "ROUND", "FLOOR", "PART", "SUM", "MOD")
	names := map[string]bool{}
	for _, f := range functions.All() {
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			if names[n] || n != strings.ToLower(n) {
				t.Errorf("%s is there twice, or not in lower case", n)
			}
			names[n] = true
			if Refused(n) {
				t.Errorf("%s is refused, too", n)
			}
		}
		if !strings.HasSuffix(f.About, ".") || f.Group == "" || len(f.Forms) == 0 {
			t.Errorf("%s lacks a line, a group or a form", f.Name)
		}
		if f.Class == Scalar && (f.Ordered || f.Over || f.Nulls == Skips) {
			t.Errorf("%s is not an aggregate", f.Name)
		}
		for _, form := range f.Forms {
			params, result := ParseForm(form)
			if !slices.Contains(results, result) {
				t.Errorf("%s: the result of %s", f.Name, form)
			}
			for i, p := range params {
				if !slices.Contains(known, p) {
					t.Errorf("%s: argument %d of %s", f.Name, i+1, form)
				}
			}
		}
	}
}

// The catalogue has every function that the documentation of the language names.
func TestQ4_WhatIsPromisedIsInTheCatalogue(t *testing.T) {
	for _, n := range strings.Fields(
		`length lower upper trim ltrim rtrim substring left right replace position strpos starts_with ends_with contains split_part string_split
		regexp_matches regexp_replace regexp_extract concat concat_ws lpad rpad reverse repeat chr ascii md5 printf format json_extract_string json_array_length abs sign round floor ceil trunc sqrt cbrt
		exp ln log log2 log10 power mod sin cos tan asin acos atan atan2 radians degrees pi date_part year month day hour dayname monthname date_trunc time_bucket date_diff date_add
		make_date strptime try_strptime strftime current_date haversine_km vader python_list iso_minutes list_contains len coalesce nullif greatest least if
		count sum avg min max min_by arg_min max_by arg_max bool_and bool_or stddev_samp stddev_pop var_samp var_pop corr median quantile_cont quantile_disc mode any_value first last
		string_agg list approx_count_distinct row_number rank dense_rank ntile lag lead first_value last_value`) {
		if functions.Find(n) == nil {
			t.Errorf("there is no %s", n)
		}
	}
	if err := Unknown("now", ""); !strings.Contains(err.Error(), "no function now") {
		t.Error(err)
	}
}
