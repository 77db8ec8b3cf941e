package out

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// endless is set in a child process of the tests, which writes rows for ever to the place that it names.
const endless = "POSTA_TEST_OUT"

func TestMain(m *testing.M) {
	if place := os.Getenv(endless); place != "" {
		var err error
		if strings.HasSuffix(place, ".html") {
			err = NewFile(place, "the report").Write(func(w io.Writer) error {
				for {
					if _, err := io.WriteString(w, "more and more\n"); err != nil {
						return err
					}
				}
			})
		} else {
			var target *Target
			if target, err = Parse(place, "", nil); err == nil {
				_, err = target.Write(neverEnding())
			}
		}
		fmt.Println(err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}
