package vader

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jonreiter/govader/data"
)

// ErrLexicon is wrapped by the error of [New]: the embedded lexicon differs from the one that this package was written for.
var ErrLexicon = errors.New("the embedded lexicon cannot be used")

// The imported module is a port of VADER to Go. It embeds the lexicon as the authors published it, and this package uses only
// these bytes. The rejected alternative was to copy half a megabyte of ratings into this repository.
const (
	wordsAsset = "rawdata/vaderLexicon.txt"
	emojiAsset = "rawdata/emojiUTF8Lexicon.txt"
)

// addedWords are in the original's lexicon, but not in the embedded one, which is a little older. Their valences were derived
// from the original's scores of real texts that contain them: of all multiples of 0.1, only these fit all scores.
var addedWords = map[string]float64{"heart": 3.2, "hearts": 3.3}

// lexicon never changes after it is read. All analyzers share it.
type lexicon struct {
	words table
	emoji map[rune]string
}

var shared = sync.OnceValues(func() (*lexicon, error) {
	l, err := load()
	if err != nil {
		return nil, fmt.Errorf("vader: %w: %w", ErrLexicon, err)
	}
	return l, nil
})

func load() (*lexicon, error) {
	l := &lexicon{words: newTable(), emoji: map[rune]string{}}
	for word, valence := range addedWords {
		l.words.rate(word, valence)
	}
	if err := eachLine(wordsAsset, func(word, measure string) error {
		valence, err := strconv.ParseFloat(measure, 64)
		// words in another case never match, because words are looked up in lower case
		if err == nil && word == string(appendLower(nil, []byte(word))) {
			l.words.rate(word, valence)
		}
		return err
	}); err != nil {
		return nil, err
	}
	if err := eachLine(emojiAsset, func(emoji, description string) error {
		if r, n := utf8.DecodeRuneInString(emoji); n == len(emoji) { // emoji of several runes never match a single rune
			l.emoji[r] = description
		}
		return nil
	}); err != nil {
		return nil, err
	}
	l.words.teach()
	return l, nil
}

// eachLine calls f with the first two fields of each line of an embedded file.
func eachLine(asset string, f func(first, second string) error) error {
	text, err := data.Asset(asset)
	if err != nil {
		return err
	}
	for i, line := range strings.Split(string(text), "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fields := strings.SplitN(line, "\t", 3)
		if len(fields) < 2 {
			return fmt.Errorf("%s line %d has one field: %q", asset, i+1, line)
		}
		if err := f(fields[0], fields[1]); err != nil {
			return fmt.Errorf("%s line %d: %w", asset, i+1, err)
		}
	}
	return nil
}
