package exporter

import (
	"strconv"
	"strings"

	"posta.dev/posta/internal/histogram"
)

// ContentType is the type of a page: the text format of Prometheus, version 0.0.4.
const ContentType = "text/plain; version=0.0.4; charset=utf-8"

// Metric describes the metric behind a name. Names and units follow the conventions of Prometheus.
type Metric struct {
	Name, Help string
	Labels     []string
}

// Page is the answer to a scrape. Metrics are in the order in which the first value of each was added.
//
// Rejected: the Go library of Prometheus. It makes the program larger by 2.4 MB, a twelfth, which exceeds the limit of a release, and the
// page is only a few lines of text. Tests read pages with that library, and check the names with its linter.
type Page struct {
	families []*family
	byName   map[string]*family
}

type family struct {
	Metric
	kind    string
	samples []byte
}

func (p *Page) family(m *Metric, kind string) *family {
	f := p.byName[m.Name]
	if f == nil {
		if p.byName == nil {
			p.byName = map[string]*family{}
		}
		f = &family{Metric: *m, kind: kind}
		p.byName[m.Name] = f
		p.families = append(p.families, f)
	}
	return f
}

// Gauge adds a value that rises and falls. labels has the values in the order of m.Labels.
func (p *Page) Gauge(m *Metric, v float64, labels ...string) {
	p.family(m, "gauge").add("", labels, "", v)
}

// Counter adds a value that only rises while the process lives.
func (p *Page) Counter(m *Metric, v float64, labels ...string) {
	p.family(m, "counter").add("", labels, "", v)
}

// Histogram adds the counts of a histogram.
func (p *Page) Histogram(m *Metric, s histogram.Snapshot, labels ...string) {
	f := p.family(m, "histogram")
	for _, b := range s.Buckets {
		f.add("_bucket", labels, number(b.Bound), float64(b.Count))
	}
	f.add("_bucket", labels, "+Inf", float64(s.Count))
	f.add("_sum", labels, "", s.Seconds)
	f.add("_count", labels, "", float64(s.Count))
}

// add writes NAME{LABEL="VALUE",…} VALUE. upTo is the bound of a bucket, or "" for a value that is not a bucket.
func (f *family) add(suffix string, values []string, upTo string, v float64) {
	b := append(f.samples, f.Name...)
	b = append(b, suffix...)
	open := byte('{')
	label := func(name, value string) {
		b = append(append(append(b, open), name...), '=', '"')
		b = append(append(b, labelValue.Replace(value)...), '"')
		open = ','
	}
	for i, name := range f.Labels {
		label(name, values[i])
	}
	if upTo != "" {
		label("le", upTo)
	}
	if open == ',' {
		b = append(b, '}')
	}
	f.samples = append(append(append(b, ' '), number(v)...), '\n')
}

var (
	labelValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	helpText   = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Append appends the text.
func (p *Page) Append(b []byte) []byte {
	for _, f := range p.families {
		b = append(append(append(append(b, "# HELP "...), f.Name...), ' '), helpText.Replace(f.Help)...)
		b = append(append(append(append(b, "\n# TYPE "...), f.Name...), ' '), f.kind...)
		b = append(append(b, '\n'), f.samples...)
	}
	return b
}
