// Wording warns of phrases in comments, strings and pages that readers have to read twice. `make lint` runs it. It never fails: nobody's
// change is refused for a word.
package main

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// phrase is wording that readers have to read twice.
type phrase struct {
	keys    string // words, separated by spaces: each match has one of them, which is looked for first, since that is far faster
	pattern string // a regular expression; a space in it matches a line break in a comment, too
	write   string // the plain wording
}

// process is a regular expression for the things that are "it" and never "who".
const process = `(medics?|nodes?|process(es)?|receivers?|senders?|joiners?|parsers?|aggregators?|reducers?|inputs?|outputs?|leaders?|followers?|agents?|brokers?|containers?|daemons?|hosts?|targets?)`

// phrases may stand in no comment, string or page. Add one where a review stumbles over it twice.
var phrases = []phrase{
	{"manieth", `manieth`, "how many times"},
	{"yet", `\b(has|have|had) yet to\b`, "has not … yet"},
	{"told", `told in full`, "name what is reported"},
	{"who", `\b` + process + `, who(m|se)?\b`, "which"},
	{"who", `\b` + process + ` whom?\b`, "that"},
	{"he him his", `\b(he|him|his)\b`, "it for nodes and medics, they for people"},
	{"Who", `(^|[.;] )Who [a-z][^.?]*[.;]`, "Whoever, or better: name the actor"},
	{"which", `\bof which (nothing|nobody|none)\b`, "that nothing, that nobody"},
	{"be", `\bbe it\b`, "whether it is"},
	{"Beside", `\bBeside (that|this)\b`, "Besides, In addition"},
	{"tell tells told telling", `\b(tells?|told|telling) of\b`, "reports, describes, names"},
	{"vain", `\bin vain\b`, "without success"},
	{"want", `\b(for|a) want of\b`, "lack of"},
	{"put", `\bput right\b`, "fixed"},
	{"anew", `\banew\b`, "again"},
	{"new", `\bmade new\b`, "created again"},
	{"become becomes became", `\bbec[oa]mes? of\b`, "happens to"},
	{"rest", `\bat rest\b`, "idle"},
	{"lest whereupon thereupon wherein albeit", `\b(lest|whereupon|thereupon|wherein|albeit)\b`, "a word of today"},
	{"antechamber notary havoc lookout foresight", `\b(antechamber|notary|havoc|lookout|foresight)\b`, "the word of the field (glossary.md)"},
	{"turned", `\bturned[ -]down\b`, "rejected"},
	{"same", `\ball the same\b`, "nevertheless"},
	{"pass passed passes", `\bpass(es|ed)? over\b`, "skip, ignore"},
	{"none", `\bis none of\b`, "does not belong to"},
	{"nobody", `\bnobody (can|could) tell\b`, "it is not known"},
	{"lets let", `\blets? go of\b`, "releases, closes"},
	{"comes", `\bcomes? of it\b`, "result"},
	{"sees see", `\bsees? to it\b`, "makes sure"},
	{"no",
		`\b(that|this|it|which|what|%[.0-9]*[sqvd]["']?) (is|are) no (number|integer|date|name|text|JSON|CSV|file|directory|regular|role|stage|part|error|reason|address|socket|list|type|value|whole|hint|loss|key|record|client|column|row|path|format|function|aggregate|character|object|plan|node|secret|answer|program|session)\b`, "is not a, are not"},
	{"had", `\b(can(not)?|could) be had\b`, "is available, is not available"},
}

// samples are texts that are data: what people write in comments on films.
var samples = regexp.MustCompile(`/testdata/|^analyses/internal/vader/|^internal/gen/memes_|^test/wording/|^analyses/memes/`)

func main() {
	texts, err := projectsTexts(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "wording:", err)
		os.Exit(1)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		for _, p := range phrases {
			for _, at := range p.find(p.expression(), texts[name]) {
				fmt.Printf("%s: warning: %q: write: %s\n", place(name, texts[name], at[0]), texts[name][at[0]:at[1]], p.write)
			}
		}
	}
}

func (p phrase) expression() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(p.pattern, " ", `\s+`))
}

// within reports whether the n bytes at i are part of a longer word.
func within(text string, i, n int) bool {
	letter := func(i int) bool { return i >= 0 && i < len(text) && ('a' <= text[i]|0x20 && text[i]|0x20 <= 'z') }
	return letter(i-1) || letter(i+n)
}

// find returns where the phrase stands in a text.
func (p phrase) find(re *regexp.Regexp, text string) (all [][]int) {
	const around = 200 // bytes on each side of a key: no phrase is longer
	for _, key := range strings.Fields(p.keys) {
		for from := 0; ; from++ {
			i := strings.Index(text[from:], key)
			if i < 0 {
				break
			}
			from += i
			if within(text, from, len(key)) {
				continue
			}
			begin, end := max(0, from-around), min(len(text), from+around)
			for _, at := range re.FindAllStringIndex(text[begin:end], -1) {
				if at = []int{begin + at[0], begin + at[1]}; at[0] <= from && from < at[1] {
					all = append(all, at)
				}
			}
		}
	}
	return all
}

// place is file:line.
func place(name, text string, at int) string {
	return fmt.Sprintf("%s:%d", name, 1+strings.Count(text[:at], "\n"))
}

// projectsTexts returns what people read in each file of the project, by path from its root.
func projectsTexts(root string) (texts map[string]string, err error) {
	texts = map[string]string{}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == ".git" || name == "bin" || name == "data" || name == "dist"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || samples.MatchString(name):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch filepath.Ext(name) {
		case ".go":
			texts[name] = prose(text)
		case ".md", ".toml", ".yaml", ".py", ".sh":
			texts[name] = string(text)
		}
		return nil
	})
	return texts, err
}

// prose returns a Go file without its code: comments and strings stay where they are, on the same line, and a NUL stands between them,
// so that no phrase goes from one to the next. Comments that follow each other are one text.
func prose(source []byte) string {
	var s scanner.Scanner
	file := token.NewFileSet()
	f := file.AddFile("", -1, len(source))
	s.Init(f, source, func(token.Position, string) {}, scanner.ScanComments)
	var out strings.Builder
	done := 0
	skip := func(to int) {
		between := source[done:to]
		if len(strings.TrimSpace(string(between))) > 0 {
			out.WriteByte(0)
		}
		out.WriteString(strings.Repeat("\n", strings.Count(string(between), "\n")))
		done = to
	}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			skip(len(source))
			return out.String()
		}
		if tok != token.COMMENT && tok != token.STRING {
			continue
		}
		skip(f.Offset(pos))
		done += len(text)
		if tok == token.STRING {
			text = "\x00" + text + "\x00"
		}
		out.WriteString(strings.TrimPrefix(text, "//"))
	}
}
