package session

import (
	"slices"
	"testing"
)

func TestR17_Openers(t *testing.T) {
	a, b, c := TokenHash{1}, TokenHash{2}, TokenHash{3}
	one, two, fork := Openers{a}, Openers{a, b}, Openers{a, c}
	if two.Now() != b || two.Founder() != a || (Openers{}).Now() != (TokenHash{}) || (Openers{}).Founder() != (TokenHash{}) {
		t.Error("who opened it first, and who last")
	}
	if !two.Superseded(a) || two.Superseded(b) || two.Superseded(c) || (Openers{}).Superseded(TokenHash{}) {
		t.Error("who was superseded")
	}
	if !one.Begin(two) || !two.Begin(two) || two.Begin(one) || two.Begin(fork) || fork.Begin(two) || (Openers{c}).Begin(two) {
		t.Error("which list continues from which")
	}
	for _, o := range []Openers{nil, one, two, fork} {
		if again, ok := ReadOpeners(o.Append(nil)); !ok || !slices.Equal(again, o) {
			t.Errorf("%v comes back as %v", o, again)
		}
	}
	for name, bad := range map[string][]byte{
		"half a hash": make([]byte, 8), "nobody": make([]byte, 16), "one twice": Openers{a, a}.Append(nil),
		"too many": make([]byte, 16*(MaxOpeners+1)),
	} {
		if o, ok := ReadOpeners(bad); ok {
			t.Errorf("%s is read as %v", name, o)
		}
	}
}
