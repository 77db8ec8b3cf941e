package cmd

import (
	"encoding/xml"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/test/ptytest"
	"posta.dev/posta/test/recording"
)

var record = flag.Bool("record", false, "record docs/pictures/terminal.svg again")

// recorded are the commands of the recording.
var recorded = [][]string{
	{"gen", "measurements", "--rows", "10000000", "--out", "data"},
	{"sql", "--data", "data", "SELECT station, count(*) AS n,\nmin(temperature) AS least, round(avg(temperature), 1) AS " +
		"mean,\nmax(temperature) AS greatest FROM measurements GROUP BY ALL ORDER BY mean DESC LIMIT 5"},
}

// TestTheRecordingIsTrue runs the commands of the README's recording, with fewer rows, and compares what they print with the picture, but
// for numbers. To record again:
//
//	go test ./cmd -run TestTheRecordingIsTrue -record
func TestTheRecordingIsTrue(t *testing.T) {
	const file = "../docs/pictures/terminal.svg"
	commands := slices.Clone(recorded)
	if !*record {
		commands[0] = slices.Clone(commands[0])
		commands[0][3] = "100000"
	}
	var s recording.Screen
	var mu sync.Mutex
	now, last := time.Duration(0), time.Now() // mu guards them: time in the picture, which the time between commands is no part of
	p := ptytest.Open(t, 110, 60, func(b []byte) {
		mu.Lock()
		defer mu.Unlock()
		s.Write(b, now+time.Since(last))
	})
	t.Setenv(recordVar, "1")
	dir := t.TempDir()
	for i, args := range commands {
		line := "$ posta"
		for _, a := range recorded[i] {
			line += " " + strings.ReplaceAll(display.Quoted(a), "\n", "\n> ") // as a shell asks for the rest
		}
		mu.Lock()
		last = time.Now()
		now += 700 * time.Millisecond
		mu.Unlock()
		if err := p.Show(line + "\n"); err != nil {
			t.Fatal(err)
		}
		c := exec.Command(os.Args[0], args...)
		c.Dir, c.Env = dir, append(os.Environ(), "TERM=xterm-256color")
		if err := p.Start(c); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err != nil {
			t.Fatalf("%v: %s", err, p.Said())
		}
		p.Drain()
		mu.Lock()
		now += time.Since(last)
		mu.Unlock()
	}
	lines, err := s.Lines()
	if err != nil {
		t.Fatal(err)
	}
	if *record {
		if err := os.WriteFile(file, []byte(recording.SVG(lines, "posta makes ten million records and answers a statement about them")),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
	picture, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var of struct {
		Text []struct {
			Visibility string `xml:"visibility,attr"`
			Text       string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal(picture, &of); err != nil || len(picture) > 60_000 {
		t.Fatalf("%d bytes, %v", len(picture), err)
	}
	var want, got []string
	for _, x := range of.Text {
		if x.Visibility == "" {
			want = append(want, withoutNumbers(x.Text))
		}
	}
	for _, l := range lines {
		if l.To == 0 {
			got = append(got, withoutNumbers(l.Text))
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(slices.Compact(got), slices.Compact(want)) {
		t.Errorf("the commands print\n%s\nand the picture shows\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil || !strings.Contains(string(readme), "](docs/pictures/terminal.svg)") {
		t.Errorf("the README does not show the recording: %v", err)
	}
}

// withoutNumbers hides what differs from one run to the next: numbers with their units, the names of stations in rows of the answer, and
// blanks.
func withoutNumbers(line string) string {
	if regexp.MustCompile(`^  \pL\S*( \S+)* +\d+ +-?\d`).MatchString(line) {
		return "a row"
	}
	return regexp.MustCompile(`[\d.,]+(ms|s| [KMG]iB)?|\s+`).ReplaceAllString(line, " ")
}
