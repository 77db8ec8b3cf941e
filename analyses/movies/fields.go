package movies

import "posta.dev/posta/analyses/internal/vader"

// Fields reads the columns of this analysis that hold more than one value, as the analysis itself reads them. It is for
// programs that answer the same queries in another way, so that the comparison is fair. It keeps buffers: only one goroutine at
// a time may use it.
type Fields struct {
	names names
	cast  cast
}

// Names calls each with every name in a list of dicts, such as genres. A name is valid during the call. If Names returns an
// error, it has not called each.
func (f *Fields) Names(literal []byte, each func(name []byte)) error {
	if err := f.names.read("names", literal); err != nil {
		return err
	}
	for rest := f.names.packed; len(rest) > 0; {
		name, after, err := cutText(rest)
		if err != nil {
			return err
		}
		each(name)
		rest = after
	}
	return nil
}

// Cast calls each with every member of a cast, as Names does.
func (f *Fields) Cast(literal []byte, each func(id int64, name []byte)) error {
	if err := f.cast.read(literal); err != nil {
		return err
	}
	for rest := f.cast.packed; len(rest) > 0; {
		id, after, err := cutInt(rest)
		if err != nil {
			return err
		}
		name, after, err := cutText(after)
		if err != nil {
			return err
		}
		each(id, name)
		rest = after
	}
	return nil
}

// Sentiment gives a text the score that the analysis gives an overview: from -1 to 1. One goroutine uses it at a time.
type Sentiment interface{ Compound(text []byte) float64 }

// NewSentiment reads the lexicon, which takes some milliseconds the first time.
func NewSentiment() (Sentiment, error) { return vader.New() }
