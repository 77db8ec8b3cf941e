package memes

import (
	"errors"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/analyses"
)

// Bounds of the words that the parser searches for in a session.
const (
	maxWords     = 100
	maxWordBytes = 200
)

func params() []analyses.Param {
	return []analyses.Param{
		{Name: "words", Default: "university,college,student,teacher,professor", Check: checkWords,
			About: "students: a comment must contain one of these, separated by commas, in any case, be it as part of a word"},
	}
}

var errWords = errors.New("give 1 to 100 words of up to 200 bytes of UTF-8, separated by commas, like college,school")

func checkWords(v string) error {
	words := strings.Split(v, ",")
	if len(words) > maxWords || !utf8.ValidString(v) {
		return errWords
	}
	for _, w := range words {
		if w = strings.TrimSpace(w); w == "" || len(w) > maxWordBytes {
			return errWords
		}
	}
	return nil
}

// readWords returns the words without the spaces around them.
func readWords(args analyses.Args) ([]string, error) {
	if err := args.Check(params()); err != nil {
		return nil, err
	}
	words := strings.Split(args[0], ",")
	for i, w := range words {
		words[i] = strings.TrimSpace(w)
	}
	return words, nil
}
