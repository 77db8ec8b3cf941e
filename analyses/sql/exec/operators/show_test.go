package operators

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"posta.dev/posta/analyses/sql/eval"
	"posta.dev/posta/analyses/sql/types"
)

// show writes a value as a CAST to TEXT does, and NULL as NULL.
func show(v *eval.Vector, row int32, t types.Type) string {
	if v.IsNull(row) {
		return "NULL"
	}
	switch t.Kind {
	case types.Double:
		return showFloat(v.Floats[row])
	case types.Bool:
		return strconv.FormatBool(v.Bools[row])
	case types.Text:
		return v.Texts[row]
	case types.Decimal:
		return showDecimal(v.Ints[row], int(t.Scale))
	case types.Date:
		return time.Unix(v.Ints[row]*86400, 0).UTC().Format("2006-01-02")
	case types.Timestamp:
		s := time.UnixMicro(v.Ints[row]).UTC().Format("2006-01-02 15:04:05.000000")
		return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	case types.Interval:
		i := v.Intervals[row]
		return fmt.Sprintf("%d months %d days %d us", i.Months, i.Days, i.Micros)
	case types.TextList:
		return showList(v.Lists[row])
	}
	return strconv.FormatInt(v.Ints[row], 10)
}

func showFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(fmt.Sprint(f)), "+")
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}

func showDecimal(v int64, scale int) string {
	s := fmt.Sprintf("%0*d", scale+1, max(v, -v))
	if scale > 0 {
		s = s[:len(s)-scale] + "." + s[len(s)-scale:]
	}
	if v < 0 {
		s = "-" + s
	}
	return s
}

func showList(l eval.List) string {
	items := make([]string, len(l.Items))
	for i, s := range l.Items {
		if items[i] = s; l.Nulls != nil && l.Nulls[i] {
			items[i] = "NULL"
		}
	}
	return "[" + strings.Join(items, ", ") + "]"
}
