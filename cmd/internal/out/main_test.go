package out

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// endless is set for a child of the tests that writes rows for ever to the place it names.
const endless = "POSTA_TEST_OUT"

func TestMain(m *testing.M) {
	if place := os.Getenv(endless); place != "" {
		target, err := Parse(place, "")
		if err == nil {
			_, err = target.Write(neverEnding())
		}
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
