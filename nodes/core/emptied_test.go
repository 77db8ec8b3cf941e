package core

import (
	"testing"

	"posta.dev/posta/link"
)

// TestR14_ALogWithoutRecordsMayHaveLostThem: a log without records may have lost all of them, so its node begins nothing before its
// receivers have reported what they have. A log that is opened for the first time cannot have lost any.
func TestR14_ALogWithoutRecordsMayHaveLostThem(t *testing.T) {
	for incarnation, want := range map[link.Incarnation]bool{1: true, 2: false} {
		cfg, err := shape("gateway")
		if err != nil {
			t.Fatal(err)
		}
		cfg.ID = link.Identity{LogID: logOf("mine"), Incarnation: incarnation, Life: 7}
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.confirm(); got != want {
			t.Errorf("incarnation %d: confirmed %v", incarnation, got)
		}
		c.Ack(link.Ack{Edge: "out", To: "me-1", Log: cfg.ID.LogID, Echo: 7, Receiver: "z-1", ID: theirs}, (&script{}).now)
		if !c.confirm() {
			t.Errorf("incarnation %d: not confirmed when its receiver has answered", incarnation)
		}
	}
}
