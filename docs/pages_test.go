// Package docs is pages for people. This test keeps one of them true: what it shows is what there is, and its commands are run.
package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// block is a piece of a page between two lines of backticks.
type block struct {
	line     int    // of the page
	language string // as it stands behind the first backticks
	file     string // likewise, behind the language: where the text belongs, "" for nowhere
	text     string
}

// fence begins and ends a block.
const fence = "```"

var errOpen = errors.New("block is not closed")

// blocks finds the blocks of a page.
func blocks(page string) (all []block, err error) {
	var b *block
	for i, line := range strings.Split(page, "\n") {
		info, isFence := strings.CutPrefix(line, fence)
		switch {
		case isFence && b == nil:
			b = &block{line: i + 1}
			b.language, b.file, _ = strings.Cut(info, " ")
		case isFence:
			all = append(all, *b)
			b = nil
		case b != nil:
			b.text += line + "\n"
		}
	}
	if b != nil {
		return all, fmt.Errorf("line %d: %w", b.line, errOpen)
	}
	return all, nil
}

// files puts together what belongs to each file. Blocks of one file follow each other with an empty line between them.
func files(all []block) map[string]string {
	out := map[string]string{}
	for _, b := range all {
		switch {
		case b.file == "":
		case out[b.file] == "":
			out[b.file] = b.text
		default:
			out[b.file] += "\n" + b.text
		}
	}
	return out
}

// marker stands in the output where a block's own begins. It holds what no page prints.
func marker(b block) string { return fmt.Sprintf("\x01line %d\x01", b.line) }

// script returns what a reader would do: run the commands, and write the files, from top to bottom.
func script(all []block) string {
	var s strings.Builder
	s.WriteString("set -eu\n")
	written := map[string]bool{}
	for _, b := range all {
		switch {
		case b.language == "sh":
			fmt.Fprintf(&s, "printf '%%s' '%s'\n%s", marker(b), b.text)
		case b.file != "":
			text := b.text
			if written[b.file] {
				text = "\n" + text
			}
			written[b.file] = true
			fmt.Fprintf(&s, "cat >> '%s' <<'END OF THE BLOCK'\n%sEND OF THE BLOCK\n", b.file, text)
		}
	}
	return s.String()
}

// printed returns what the commands of a block have printed.
func printed(output string, b block) (string, bool) {
	_, rest, ok := strings.Cut(output, marker(b))
	text, _, _ := strings.Cut(rest, "\x01")
	return text, ok
}

func load(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all, err := blocks(string(text))
	if err != nil {
		t.Fatalf("%s: %v", page, err)
	}
	return all
}

const adding = "adding-an-analysis.md"

func TestThePageShowsTheFilesOfTheExample(t *testing.T) {
	shown := files(load(t, adding))
	for _, name := range []string{"wordcount.go", "main.go", "wordcount_test.go", "testdata/poems/river.csv", "testdata/poems/post.csv"} {
		want, err := os.ReadFile(filepath.Join("..", "examples", "wordcount", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if shown[name] != string(want) {
			t.Errorf("%s shows %s as\n%s\nand examples/wordcount has\n%s", adding, name, shown[name], want)
		}
		delete(shown, name)
	}
	for name := range shown {
		t.Errorf("%s shows %s, which examples/wordcount does not have", adding, name)
	}
}

func TestThePageCountsTheLinesOfTheExample(t *testing.T) {
	page, err := os.ReadFile(adding)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(files(load(t, adding))["wordcount.go"], "\n")
	if says := fmt.Sprintf("counts words, in %d lines and one line of `main`", lines); !strings.Contains(string(page), says) {
		t.Errorf("%s does not say that it %s", adding, says)
	}
}

func TestTheCommandsOfThePagePrintWhatItSays(t *testing.T) { printsWhatItSays(t, adding, "") }

// TestTheStatementsOfThePageAreAnsweredAsItSays runs the page about SQL with this folder's program.
func TestTheStatementsOfThePageAreAnsweredAsItSays(t *testing.T) {
	printsWhatItSays(t, "sql.md", buildPosta+"mkdir -p data/cities\n")
}

// TestAProgramOfFifteenLinesAsks runs the programs of the page about Go, in a module of their own, and counts their lines.
func TestAProgramOfFifteenLinesAsks(t *testing.T) {
	printsWhatItSays(t, "go.md", "")
	programs := 0
	for _, b := range load(t, "go.md") {
		if b.language != "go" {
			continue
		}
		programs++
		lines := slices.DeleteFunc(strings.Split(b.text, "\n"), func(line string) bool { return line == "" })
		if len(lines) > 15 || strings.Count(b.text, "SELECT") < 3 {
			t.Errorf("go.md:%d has %d lines, and asks %d statements", b.line, len(lines), strings.Count(b.text, "SELECT"))
		}
	}
	if programs != 2 {
		t.Errorf("go.md has %d programs", programs)
	}
}

// printsWhatItSays runs a page's commands, after some that prepare them, and compares what they print.
func printsWhatItSays(t *testing.T, page, prepare string) {
	t.Helper()
	all := load(t, page)
	output := perform(t, prepare+script(all))
	said := 0
	for i, b := range all {
		if b.language != "sh" {
			continue
		}
		got, ran := printed(output, b)
		if !ran {
			t.Errorf("%s:%d was not run", page, b.line)
		}
		if i+1 == len(all) || all[i+1].language != "text" {
			continue
		}
		said++
		if want := all[i+1].text; got != want {
			t.Errorf("%s:%d prints\n%s\nand the page says\n%s", page, b.line, got, want)
		}
	}
	if said < 2 {
		t.Errorf("%s says what %d blocks print; are they still marked as text?", page, said)
	}
}

// perform runs a script in a folder of its own, and returns what it prints on standard output. The folder's name is short, because unix
// sockets are made in it.
func perform(t *testing.T, text string) string {
	t.Helper()
	posta, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	work, err := os.MkdirTemp("/tmp", "p")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := os.RemoveAll(work); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	sh := exec.CommandContext(ctx, "sh", "-c", text)
	sh.Env = append(readersEnv(), "POSTA="+posta, "WORK="+work)
	sh.Dir, sh.WaitDelay = work, 10*time.Second
	var out, complaints bytes.Buffer
	sh.Stdout, sh.Stderr = &out, &complaints
	if err := sh.Run(); err != nil {
		stop(work)
		t.Fatalf("the commands of %s: %v\n%s\n%s", adding, err, &out, &complaints)
	}
	return out.String()
}

// readersEnv returns the environment without what would make the commands do something else than for most readers. Whether programs
// name the folders in which they were built makes no difference, and all is built again if the tests and the commands do not agree on it.
func readersEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains([]string{"GOFLAGS", "GOWORK", "GO111MODULE", "POSTA_TOPOLOGY", "POSTA_ENTRY"}, name)
	})
	if strings.Contains(os.Getenv("GOFLAGS"), "-trimpath") {
		env = append(env, "GOFLAGS=-trimpath")
	}
	return env
}

// buildPosta makes the program of this folder, without the profile, as the tests are built: with it all would be compiled once more. Nobody
// debugs it.
const buildPosta = `mkdir -p "$WORK/bin" && (cd "$POSTA" && go build -pgo=off -ldflags=-w -o "$WORK/bin/posta" .)
PATH=$WORK/bin:$PATH
`

// stop ends the cluster of a page that did not come as far as to do it itself.
func stop(work string) {
	down := exec.Command("./wordcount", "down")
	down.Dir = filepath.Join(work, "wordcount")
	_ = down.Run() // nothing is up, mostly
}

// pagesHere returns the pages, also those with measurements.
func pagesHere() ([]string, error) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		return nil, err
	}
	raw, err := filepath.Glob("measurements/*.md")
	return append(pages, raw...), err
}

// TestPagesAreShort keeps pages short enough to be read: what does not fit belongs on a page of its own.
func TestPagesAreShort(t *testing.T) {
	const most = 400 // lines
	pages, err := pagesHere()
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 {
		t.Errorf("%d pages were found; have they moved?", len(pages))
	}
	for _, name := range append(pages, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md") {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(page), "\n"); n > most {
			t.Errorf("%s has %d lines, and %d are the most; split it", name, n, most)
		}
	}
}

// TestPagesHaveFewWords keeps what docs/README.md lists from growing. Raw tables belong below measurements/, and do not count.
func TestPagesHaveFewWords(t *testing.T) {
	const most = 40_000 // lower it with each page that gets shorter
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	words := 0
	for _, name := range pages {
		words += len(strings.Fields(readPage(t, name)))
	}
	if words > most {
		t.Errorf("the pages have %d words, and %d are the most: shorten one, or move raw tables below measurements/", words, most)
	}
}

func TestBlocksAreFound(t *testing.T) {
	all, err := blocks("text\n```sh\na\nb\n```\n\n```go x.go\nc\n```\n```go x.go\nd\n```\n```text\n```\n")
	if err != nil || len(all) != 4 || all[0] != (block{2, "sh", "", "a\nb\n"}) || all[3] != (block{13, "text", "", ""}) {
		t.Errorf("%+v, %v", all, err)
	}
	if got := files(all)["x.go"]; got != "c\n\nd\n" {
		t.Errorf("%q", got)
	}
	if _, err := blocks("```sh\na\n"); !errors.Is(err, errOpen) {
		t.Error(err)
	}
}

func TestAScriptStopsAtTheFirstCommandThatFails(t *testing.T) {
	all, err := blocks(
		"```sh\necho one\n```\n```csv a.csv\nx\n```\n```csv a.csv\n$y\n```\n```sh\ncat a.csv\nfalse\n```\n```sh\necho never\n```\n")
	if err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "sh", "-c", script(all))
	sh.Dir = t.TempDir()
	out, err := sh.Output()
	if err == nil {
		t.Error("a command that fails is skipped")
	}
	for i, want := range map[int]string{0: "one\n", 3: "x\n\n$y\n"} {
		if got, ran := printed(string(out), all[i]); !ran || got != want {
			t.Errorf("block %d: %q, want %q", i, got, want)
		}
	}
	if _, ran := printed(string(out), all[4]); ran {
		t.Errorf("%q continues after a failure", out)
	}
}
