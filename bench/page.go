package bench

import (
	"bytes"
	_ "embed"
	"html/template"
)

//go:embed page.html.tmpl
var pageSource string

// page returns the report as HTML: one file that loads nothing from elsewhere.
func (r *Report) page() ([]byte, error) {
	t, err := template.New("page").Funcs(template.FuncMap{"tables": tables, "charts": charts}).Parse(pageSource)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tables splits the cases where their figures change, so that all cases of a table have the same columns.
func tables(cases []Case) (all [][]Case) {
	for i := range cases {
		if i == 0 || !sameColumns(&cases[i], &cases[i-1]) {
			all = append(all, nil)
		}
		last := &all[len(all)-1]
		*last = append(*last, cases[i])
	}
	return all
}

// chart has the bars of one figure, one for each case. Its numbers are pixels.
type chart struct {
	Title         string
	Width, Height int
	Bars          []bar
}

type bar struct {
	Name, Label, Fill        string
	X, Y, Length, TextY, Mid float64
	Min, Max, LabelX         float64
}

const (
	namesWidth = 130.0
	barsWidth  = 200.0
	labelWidth = 70.0
	lineHeight = 18.0
)

// charts draws each figure of cases with the same figures. A single case gets no chart, because its bar would show no
// more than the table.
func charts(cases []Case) (all []chart) {
	if len(cases) < 2 {
		return nil
	}
	for i := range cases[0].Figures {
		c := chart{Title: cases[0].Figures[i].Title(), Width: int(namesWidth + barsWidth + labelWidth)}
		longest := 0.0
		for _, x := range cases {
			longest = max(longest, x.Figures[i].Max)
		}
		if longest <= 0 {
			continue
		}
		for j, x := range cases {
			c.Bars = append(c.Bars, newBar(x.Name, &x.Figures[i], j, barsWidth/longest))
		}
		c.Height = int(lineHeight) * (len(cases) + 1)
		all = append(all, c)
	}
	return all
}

func newBar(name string, f *Figure, line int, scale float64) bar {
	y := lineHeight*float64(line+1) + 2
	fill := "#9ab"
	if line == 0 {
		fill = "#c63"
	}
	at := func(v float64) float64 { return namesWidth + max(0, v)*scale }
	return bar{
		Name: name, Label: number(f.Median), Fill: fill, X: namesWidth, Y: y, Length: at(f.Median) - namesWidth, TextY: y + 10, Mid: y + 6,
		Min: at(f.Min), Max: at(f.Max), LabelX: at(f.Max) + 5,
	}
}
