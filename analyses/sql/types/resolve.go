package types

import (
	"fmt"
	"slices"
	"strings"
)

// Arg is an argument: its type and, for a literal, its value, a string or an int64.
type Arg struct {
	Type  Type
	Const any
}

var byName = func() map[string]*Function {
	m := map[string]*Function{}
	for i := range Functions {
		f := &Functions[i]
		for _, n := range append([]string{f.Name}, f.Aliases...) {
			m[n] = f
		}
	}
	return m
}()

// Find returns the function that a name in lower case stands for, nil if there is none. Aggregates are in package aggregate.
func Find(name string) *Function { return byName[name] }

// refusedFunctions are functions of the dialect that Posta lacks, with what to write instead.
var refusedFunctions = map[string]string{
	"now": nowHint, "get_current_timestamp": nowHint, "current_timestamp": nowHint, "random": chanceHint, "uuid": chanceHint,
	"gen_random_uuid": chanceHint,
	"list_transform":  lambdaHint, "list_filter": lambdaHint, "list_reduce": lambdaHint, "list_apply": lambdaHint,
	"array_transform": lambdaHint, "array_filter": lambdaHint,
	"percentile_cont": "Write quantile_cont(x, 0.5).", "percentile_disc": "Write quantile_disc(x, 0.5).",
	"approx_quantile": "Write quantile_cont(x, 0.5): it is exact.",
	"date":            "Write x::DATE.", "to_timestamp": sinceHint,
	"make_timestamp": "Write make_date(y, m, d) + INTERVAL (h) HOUR + INTERVAL (m) MINUTE.",
	"to_years":       spanHint, "to_months": spanHint, "to_weeks": spanHint, "to_days": spanHint, "to_hours": spanHint, "to_minutes": spanHint,
	"to_seconds":      spanHint,
	"generate_series": "Write UNNEST(['1', '2', '3']), or VALUES (1), (2), (3).",
	"range":           "Write UNNEST(['1', '2', '3']), or VALUES (1), (2), (3).",
	"struct_pack":     structHint, "struct_extract": structHint, "json_keys": "Write x->>'$.*' for the values of a JSON object.",
	"try":     "TRY_CAST, try_strptime and CASE give NULL in place of an error.",
	"age":     "Write date_diff('day', x, y), or y - x.",
	"to_char": "Write strftime(x, '%Y-%m-%d').", "to_date": "Write strptime(x, '%d/%m/%Y')::DATE.",
	"str_to_date": "Write strptime(x, '%d/%m/%Y')::DATE.", "date_format": "Write strftime(x, '%Y-%m-%d').", "array_length": "Write len(x).",
	"isnull":       "Write x IS NULL.",
	"percent_rank": "Write (rank() OVER w - 1) / (count(*) OVER () - 1).",
	"cume_dist":    "Write count(*) OVER (ORDER BY x) / count(*) OVER ().", "nth_value": "Write lag or lead.",
	"countif": "Write count(*) FILTER (WHERE x).", "count_if": "Write count(*) FILTER (WHERE x).", "nvl": "Write coalesce(x, y).",
	"iff": "Write if(x, y, z).",
}

const (
	sinceHint  = "Write TIMESTAMP '1970-01-01' + INTERVAL (n) SECOND, MILLISECOND or MICROSECOND."
	spanHint   = "Write INTERVAL (n) DAY, or another unit."
	structHint = "Structures are not supported. What JSON holds is taken by x->>'key'."
	lambdaHint = "Lambdas are not supported. A list becomes rows in FROM: FROM t, UNNEST(x) AS u (item)."
	nowHint    = "Answers do not depend on when they are computed; current_date is the day when the session opens."
	chanceHint = "Answers do not depend on chance; take rows by a condition, as id % 100 = 0."
)

// Unknown returns the error about a function that does not exist. near is a similar name, or "".
func Unknown(name, near string) error {
	hint := refusedFunctions[name]
	if hint == "" && near != "" {
		hint = fmt.Sprintf("Did you mean %s?", near)
	}
	return Refuse(hint, "there is no function %s", name)
}

// signature is a parsed form.
type signature struct {
	params   []string
	optional int // how many of the last arguments may be left out
	repeated bool
	result   string
}

func parseForm(form string) (s signature) {
	before, after, _ := strings.Cut(form, "->")
	s.result = strings.TrimSpace(after)
	if strings.TrimSpace(before) == "" {
		return s
	}
	for _, p := range strings.Split(before, ",") {
		p = strings.TrimSpace(p)
		if q, ok := strings.CutSuffix(p, "?"); ok {
			p = q
			s.optional++
		}
		if q, ok := strings.CutSuffix(p, "..."); ok {
			p, s.repeated = q, true
		}
		s.params = append(s.params, p)
	}
	return s
}

// Resolve returns the form of f for args: the types that they are converted to, and the type of the result. If several forms
// fit, it returns the one that needs the least conversion.
func (f *Function) Resolve(args []Arg) (Form, error) {
	best, least, found := Form{}, 0, false
	var why error
	for _, text := range f.Forms {
		s := parseForm(text)
		form, distance, err := s.match(args)
		if err == nil {
			form.Result, err = s.results(form, args)
		}
		if err != nil {
			why = err
			continue
		}
		if !found || distance < least {
			best, least, found = form, distance, true
		}
	}
	if found {
		return best, nil
	}
	if why != nil && len(f.Forms) == 1 {
		return Form{}, Refuse(f.usage(), "%s: %s", f.Name, why)
	}
	return Form{}, Refuse(f.usage(), "%s does not take %s", f.Name, typeList(args))
}

// usage lists the forms for a message.
func (f *Function) usage() string {
	forms := make([]string, len(f.Forms))
	for i, form := range f.Forms {
		args, result, _ := strings.Cut(form, "->")
		forms[i] = fmt.Sprintf("%s(%s) gives %s", f.Name, strings.TrimSpace(args), strings.TrimSpace(result))
	}
	return strings.Join(forms, "; ") + ". " + f.About
}

// typeList is the types of arguments for a message.
type typeList []Arg

func (args typeList) String() string {
	if len(args) == 0 {
		return "no arguments"
	}
	s := make([]string, len(args))
	for i, a := range args {
		s[i] = a.Type.String()
	}
	return strings.Join(s, ", ")
}

// match converts args to the parameters, and returns the distance of the conversion.
func (s signature) match(args []Arg) (form Form, distance int, err error) {
	least, most := len(s.params)-s.optional, len(s.params)
	if len(args) < least || len(args) > most && !s.repeated {
		return form, 0, fmt.Errorf("it has %d arguments and takes %s", len(args), countOf(least, most, s.repeated))
	}
	common := Of(Null) // the type that T stands for
	for i := range args {
		if s.param(i) == "T" {
			if common, err = Common(common, args[i].Type); err != nil {
				return form, 0, err
			}
		}
	}
	form.Args = make([]Type, len(args))
	for i, a := range args {
		to, d, err := parameter(s.param(i), a.Type, common)
		if err != nil {
			return form, 0, fmt.Errorf("argument %d: %w", i+1, err)
		}
		form.Args[i] = to
		distance += d
	}
	return form, distance, nil
}

func countOf(least, most int, repeated bool) string {
	switch {
	case repeated:
		return fmt.Sprintf("at least %d", least)
	case least == most:
		return fmt.Sprint(least)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

func (s signature) param(i int) string { return s.params[min(i, len(s.params)-1)] }

// parameter returns the type that an argument of type t is converted to.
func parameter(param string, t, common Type) (to Type, distance int, err error) {
	switch param {
	case "T":
		return common, 0, nil
	case "ANY":
		return t, 0, nil
	case "N":
		if t.Kind == Null {
			return Of(BigInt), 1, nil
		}
		if t.IsNumber() {
			return t, 0, nil
		}
		return t, 0, Refuse("", "a number is needed, not %s", t)
	case "D":
		if t.Kind == Null {
			return Of(Timestamp), 1, nil
		}
		if t.Kind == Date || t.Kind == Timestamp {
			return t, 0, nil
		}
		return t, 0, Refuse("", "a DATE or TIMESTAMP is needed, not %s", t)
	}
	k := Kind(slices.Index(kindNames[:], param))
	d, ok := t.Taken(k)
	switch {
	case !ok:
		return t, 0, Refuse("", "%s is needed, not %s", param, t)
	case k == Decimal && t.Kind == BigInt:
		return asDecimal(t), d, nil
	case t.Kind == k:
		return t, d, nil
	}
	return Of(k), d, nil
}

// results returns the type of the result. ROUND is the number with as many digits after the point as the second argument says. FLOOR has
// no digits after the point; for a BIGINT it is a DOUBLE, as in DuckDB. PART is a DOUBLE for epoch and a BIGINT for all other fields.
// SUM is a DECIMAL with 18 digits. MOD is the type of %.
func (s signature) results(form Form, args []Arg) (Type, error) {
	first := Of(Null)
	if len(form.Args) > 0 {
		first = form.Args[0]
	}
	switch s.result {
	case "T":
		for i := range form.Args {
			if s.param(i) == "T" {
				return form.Args[i], nil
			}
		}
	case "N", "DECIMAL":
		return first, nil
	case "D":
		for i := range form.Args {
			if s.param(i) == "D" {
				return form.Args[i], nil
			}
		}
	case "SUM":
		return DecimalOf(MaxPrecision, int(first.Scale)), nil
	case "FLOOR":
		if first.Kind == Decimal {
			return DecimalOf(int(first.Precision), 0), nil
		}
		return Of(Double), nil
	case "MOD":
		f, err := arithmetic("%", form.Args[0], form.Args[1])
		copy(form.Args, f.Args)
		return f.Result, err
	case "ROUND":
		if first.Kind != Decimal {
			return first, nil
		}
		digits := int64(0)
		if len(args) == 2 {
			n, ok := args[1].Const.(int64)
			if !ok {
				return Type{}, Refuse("", "the digits of a DECIMAL are a literal")
			}
			digits = n
		}
		return DecimalOf(int(first.Precision), int(min(max(digits, 0), int64(first.Scale)))), nil
	case "PART":
		field, ok := args[0].Const.(string)
		if !ok {
			return Type{}, Refuse("", "the field is a literal")
		}
		return partType(field)
	}
	return Of(Kind(slices.Index(kindNames[:], s.result))), nil
}

// Parts maps each name of a date_part field to the field.
var Parts = map[string]string{
	"year": "year", "years": "year", "y": "year", "quarter": "quarter", "quarters": "quarter", "month": "month", "months": "month",
	"mon": "month", "week": "week", "weeks": "week", "w": "week",
	"day": "day", "days": "day", "d": "day", "dayofmonth": "day", "dow": "dow", "dayofweek": "dow", "weekday": "dow", "isodow": "isodow",
	"doy": "doy", "dayofyear": "doy", "isoyear": "isoyear",
	"hour": "hour", "hours": "hour", "h": "hour", "minute": "minute", "minutes": "minute", "m": "minute", "second": "second",
	"seconds": "second", "s": "second",
	"millisecond": "millisecond", "milliseconds": "millisecond", "ms": "millisecond", "microsecond": "microsecond",
	"microseconds": "microsecond", "us": "microsecond",
	"epoch": "epoch", "decade": "decade", "decades": "decade", "century": "century", "centuries": "century", "millennium": "millennium",
	"millennia": "millennium",
}

func partType(field string) (Type, error) {
	switch Parts[strings.ToLower(field)] {
	case "":
		return Type{}, Refuse("", "there is no field '%s'", field)
	case "epoch":
		return Of(Double), nil
	}
	return Of(BigInt), nil
}
