package protocol

import (
	"errors"
	"testing"
)

// TestRangesAreInOrder: a client refuses anything that is not a valid list of pieces.
func TestRangesAreInOrder(t *testing.T) {
	for name, taken := range map[string][]Range{
		"empty":        {{From: 5, To: 5}},
		"backwards":    {{From: 5, To: 4}},
		"out of order": {{From: 10, To: 20}, {From: 0, To: 5}},
		"twice":        {{From: 10, To: 20}, {From: 19, To: 25}},
		"beyond":       {{From: MaxOffset, To: MaxOffset + 1}},
	} {
		r := Reply{Type: Opened, Ranges: []FileRanges{{Stream: "trips", File: "a", Taken: taken}}}
		if _, err := DecodeReply(r.Append(nil)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
