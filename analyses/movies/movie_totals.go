package movies

import (
	"posta.dev/posta/rows/exact"
	"posta.dev/posta/rows/fold"
)

// movieTotals holds what the movies themselves add to the tables. It exists from the end of their stream to the next flush.
type movieTotals struct {
	together []movie
	budgets  map[string]*exact.Sum
	feelings [2]earned // NEGATIVE, POSITIVE
}

type earned struct {
	ratio  exact.Sum
	movies int64
}

var feelingNames = [2]string{"NEGATIVE", "POSITIVE"}

func newMovieTotals() *movieTotals { return &movieTotals{budgets: map[string]*exact.Sum{}} }

// count adds a movie.
func (s *movieTotals) count(m *movie, by *producers) {
	if by.country && by.partner && m.released >= year2000 && m.released < year2010 {
		s.together = append(s.together, *m)
	}
	if by.only != nil {
		sum := s.budgets[string(by.only)]
		if sum == nil {
			sum = new(exact.Sum)
			s.budgets[string(by.only)] = sum
		}
		sum.Add(m.budget)
	}
	if m.feeling == 1 || m.feeling == -1 {
		f := &s.feelings[(m.feeling+1)/2]
		f.ratio.Add(m.ratio)
		f.movies++
	}
}

func (s *movieTotals) flush(tables []*fold.Table) {
	t := tables[coproductions]
	for i := range s.together {
		m := &s.together[i]
		row := t.Row(t.Key().Int(m.id))
		t.PutMinText(row, 0, m.title)
		t.PutMinText(row, 1, m.genres)
	}
	t = tables[budgets]
	for country, sum := range s.budgets {
		t.AddExact(t.Row(t.Key().String(country)), 0, sum)
	}
	t = tables[sentiment]
	for i := range s.feelings {
		f := &s.feelings[i]
		if f.movies == 0 {
			continue
		}
		row := t.Row(t.Key().String(feelingNames[i]))
		t.AddExact(row, 0, &f.ratio)
		t.AddSum(row, 1, f.movies)
	}
}

// producers holds what the queries ask about a movie's production countries.
type producers struct {
	country, partner bool   // whether each is among them
	only             []byte // the country, if there is exactly one; nil otherwise
}

func producersOf(packed []byte, cfg *settings) (p producers, err error) {
	n := 0
	for rest := packed; len(rest) > 0; n++ {
		var name []byte
		if name, rest, err = cutText(rest); err != nil {
			return p, err
		}
		p.country = p.country || string(name) == cfg.country
		p.partner = p.partner || string(name) == cfg.partner
		p.only = name
	}
	if n != 1 {
		p.only = nil
	}
	return p, nil
}
