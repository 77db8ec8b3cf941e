package soak

import (
	_ "embed"
	"fmt"
	"math"
	"strings"
	"text/template"
	"time"
)

//go:embed page.md.tmpl
var pageText string

var page = template.Must(template.New("page.md.tmpl").Funcs(template.FuncMap{
	"n":     func(v float64) string { return number(v, 1) },
	"s":     func(v float64) string { return number(v, 2) },
	"slope": func(l Line) string { return number(l.Slope, 2) + " ± " + number(l.Error, 2) },
	"round": func(d time.Duration) string { return d.Round(time.Second).String() },
	"list":  func(all []string) string { return strings.Join(all, ", ") },
}).Parse(pageText))

func number(v float64, digits int) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

// Page returns docs/measurements/soak.md for a record, with the picture beside it.
func (r *Report) Page(picture string) (string, error) {
	var b strings.Builder
	data := struct {
		*Report
		Picture                    string
		Took                       time.Duration
		Short                      bool // no slope is known
		Right, Failed, Wrong, Hung int
	}{Report: r, Picture: picture, Took: r.To.Sub(r.From), Short: math.IsNaN(r.Latency[0].Slope)}
	for _, k := range r.Kinds {
		data.Right, data.Failed, data.Wrong, data.Hung = data.Right+k.Right, data.Failed+k.Failed, data.Wrong+k.Wrong, data.Hung+k.Hung
	}
	err := page.Execute(&b, data)
	return b.String(), err
}
