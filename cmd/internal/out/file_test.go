package out

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAFileIsWrittenWholeOrNotAtAll: a file is replaced as a whole, or stays.
func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	place := filepath.Join(dir, "report.html")
	f := NewFile(place, "the report")
	says := func(text string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}
	}
	for _, text := range []string{"first", "second"} {
		if err := errors.Join(f.Prepare(), f.Write(says(text))); err != nil {
			t.Fatal(err)
		}
		if got := content(t, place); got != text {
			t.Errorf("the file has %q, want %q", got, text)
		}
	}
	wrong := errors.New("a row cannot be read")
	err := f.Write(func(w io.Writer) error {
		return errors.Join(says("third")(w), wrong)
	})
	if !errors.Is(err, wrong) || content(t, place) != "second" || len(files(t, dir)) != 1 {
		t.Errorf("%v; the directory has %v, and the file has %q", err, files(t, dir), content(t, place))
	}
}

// TestFilesThatCannotBeWrittenAreSaidBefore: a place that cannot be written is an error before there are answers.
func TestFilesThatCannotBeWrittenAreSaidBefore(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for place, says := range map[string]string{
		dir:                 " is a directory; give the name of a file",
		dir + "/none/x":     "no such file or directory; give another place for the report",
		dir + "/file/x":     "not a directory",
		"/proc/report.html": "give another place for the report",
		os.DevNull:          "is not a regular file",
	} {
		f := NewFile(place, "the report")
		for _, err := range []error{f.Prepare(), f.Write(func(io.Writer) error { return nil })} {
			if err == nil || strings.Contains(err.Error(), "each query") {
				t.Errorf("%s: %v", place, err)
			}
		}
		if err := f.Prepare(); err == nil || !strings.HasSuffix(err.Error(), says) && !strings.Contains(err.Error(), says+";") &&
			!strings.Contains(err.Error(), says+",") {
			t.Errorf("%s: %v, want %q", place, err, says)
		}
	}
}
