package main

import "testing"

func TestPhrasesAreFoundInCommentsAndStringsAlone(t *testing.T) {
	text := prose([]byte("package x\n\n// A node\n// who waits.\nvar node, who = `a node`, \"who\" // a medic\n// who\n"))
	p := phrase{keys: "who", pattern: `\b` + process + ` who\b`}
	found := p.find(p.expression(), text)
	if len(found) != 2 || place("x.go", text, found[0][0]) != "x.go:3" || place("x.go", text, found[1][0]) != "x.go:5" {
		t.Errorf("%v in %q", found, text)
	}
}
