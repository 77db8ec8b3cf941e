package docs

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
	{"no", `\b(that|this|it|which|what|%[.0-9]*[sqvd]["']?) (is|are) no (number|integer|date|name|text|JSON|CSV|file|directory|regular|role|stage|part|error|reason|address|socket|list|type|value|whole|hint|loss|key|record|client|column|row|path|format|function|aggregate|character|object|plan|node|secret|answer|program|session)\b`, "is not a, are not"},
	{"had", `\b(can(not)?|could) be had\b`, "is available, is not available"},
}

// samples are texts that are data: what people write in comments on films.
var samples = regexp.MustCompile(`/testdata/|^analyses/internal/vader/|^internal/gen/memes_|^docs/phrases_test\.go$|^analyses/memes/`)

// TestPhrases_NoSentenceHasToBeReadTwice keeps the list out of the project.
func TestPhrases_NoSentenceHasToBeReadTwice(t *testing.T) {
	texts := projectsTexts(t)
	if len(texts) < 500 {
		t.Errorf("%d files were read; has the project moved?", len(texts))
	}
	for _, p := range phrases {
		re := p.expression()
		for name, text := range texts {
			for _, at := range p.find(re, text) {
				t.Errorf("%s: %q: write: %s", place(name, text, at[0]), text[at[0]:at[1]], p.write)
			}
		}
	}
}

// ruleNumber is a message that begins with the number of a rule. People who get an answer, or none, do not know the rules. Panics and the log of a node, for
// those who look for bugs, may have them.
var ruleNumber = regexp.MustCompile(`(Errorf|errors\.New|Sprintf|NewError)\(\s*"[A-Z][0-9]+: `)

// TestPhrases_NoMessageBeginsWithARule: the errors of sessions, commands and nodes are for people.
func TestPhrases_NoMessageBeginsWithARule(t *testing.T) {
	read := 0
	for _, dir := range []string{"analyses", "client", "cmd", "console", "nodes", "protocol", "query"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for i, line := range strings.Split(string(text), "\n") {
				if read++; ruleNumber.MatchString(line) && !strings.Contains(line, "panic(") {
					t.Errorf("%s:%d: %s", path, i+1, strings.TrimSpace(line))
				}
			}
			return err
		})
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
	}
	if read < 50_000 {
		t.Errorf("%d lines were read; has the project moved?", read)
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
func projectsTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		name := filepath.ToSlash(strings.TrimPrefix(path, ".."+string(filepath.Separator)))
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
	if err != nil {
		t.Fatal(err)
	}
	return texts
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

func TestPhrases_AreFoundInCommentsAndStringsAlone(t *testing.T) {
	text := prose([]byte("package x\n\n// A node\n// who waits.\nvar node, who = `a node`, \"who\" // a medic\n// who\n"))
	p := phrase{keys: "who", pattern: `\b` + process + ` who\b`}
	found := p.find(p.expression(), text)
	if len(found) != 2 || place("x.go", text, found[0][0]) != "x.go:3" || place("x.go", text, found[1][0]) != "x.go:5" {
		t.Errorf("%v in %q", found, text)
	}
}
