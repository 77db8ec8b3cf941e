package await

import (
	"fmt"
	"testing"
	"time"
)

func TestWithin(t *testing.T) {
	asked := 0
	if !Within(time.Minute, func() bool { asked++; return asked == 3 }) || asked != 3 {
		t.Errorf("asked %d times", asked)
	}
	if Within(0, func() bool { return false }) {
		t.Error("what is not so was taken for so")
	}
}

func TestLog(t *testing.T) {
	var l Log
	fmt.Fprintln(&l, "level=INFO msg=began node=a")
	fmt.Fprintln(&l, "level=INFO msg=ended")
	l.Line(t, "began", "node=a")
	if Within(0, func() bool { return l.String() == "" }) {
		t.Error("nothing was written")
	}
}
