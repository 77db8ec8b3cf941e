package docs

import (
	"strings"
	"testing"
)

// TestTheCommandsOfDataPrintWhatItSays runs the page's commands that stand before what they print, with what they need.
func TestTheCommandsOfDataPrintWhatItSays(t *testing.T) {
	const page = "data.md"
	all := load(t, page)
	begin, end := -1, -1
	for i, b := range all {
		if b.language == "sh" && strings.HasPrefix(b.text, "mkdir") && begin < 0 {
			begin = i
		}
		if b.language == "text" {
			end = i
		}
	}
	if begin < 0 || end < begin {
		t.Fatalf("%s has no commands with what they print", page)
	}
	all = all[begin : end+1]
	output := perform(t, buildPosta+"cp bin/posta .\n"+script(all))
	said := 0
	for i, b := range all {
		if b.language != "text" {
			continue
		}
		said++
		if got, ran := printed(output, all[i-1]); !ran || got != b.text {
			t.Errorf("%s:%d prints\n%s\nand the page says\n%s", page, all[i-1].line, got, b.text)
		}
	}
	if said == 0 {
		t.Error("nothing is compared")
	}
}
