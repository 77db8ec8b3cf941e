package freeports

import (
	"net"
	"testing"
)

// TestRow_PassesOverWhatIsTaken: Row returns no port on which somebody listens.
func TestRow_PassesOverWhatIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", net.JoinHostPort(Address, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if taken := l.Addr().(*net.TCPAddr).Port; free(taken, 1) || free(taken-1, 2) {
		t.Errorf("%d is free, and we listen there", taken)
	}
	if first, err := Row(3); err != nil || first < First || first+3 > Last {
		t.Errorf("a row begins at %d, %v", first, err)
	}
}
