package bench

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"posta.dev/posta/internal/gen"
)

// TestData_IsTakenAgainOnlyFromTheSameGenerator: data of an earlier run is used only if this program would generate the same
// data.
func TestData_IsTakenAgainOnlyFromTheSameGenerator(t *testing.T) {
	dir, made := t.TempDir(), 0
	makes := func(row string) *workload {
		s := workloads()[0]
		s.generate = func(d gen.Dir, facts int, _ uint64) error {
			if facts != fingerprintFacts {
				made++
			}
			for _, name := range []string{"a.csv", "b.csv"} {
				f, err := d.Create(name)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(f, "x\n%s\n", row); err != nil {
					return err
				}
				if err := f.Close(); err != nil {
					return err
				}
			}
			return nil
		}
		return &s
	}
	path := func(row string) string {
		t.Helper()
		p, _, err := makes(row).sanitizedData(dir, 7)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(p, "b.csv"))
		if err != nil || string(b) != "x\n"+row+"\n" {
			t.Fatalf("%s holds %q, %v", p, b, err)
		}
		return p
	}
	first := path("1")
	if again := path("1"); again != first || made != 1 {
		t.Errorf("%s, then %s; made %d times", first, again, made)
	}
	if other := path("2"); other == first || made != 2 {
		t.Errorf("another generator's data is in %s, too; made %d times", other, made)
	}
}

// TestFingerprint_OfWhatIsWritten: sanitizing changes the fingerprint, all workloads have different ones, and errors are
// returned.
func TestFingerprint_OfWhatIsWritten(t *testing.T) {
	seen := map[string]string{}
	for _, s := range workloads() {
		one, err := s.fingerprint(unchanged)
		two, err2 := s.fingerprint(unchanged)
		if err != nil || err2 != nil || one != two || seen[one] != "" {
			t.Errorf("%s: %s, then %s, also of %q; %v, %v", s.name(), one, two, seen[one], err, err2)
		}
		seen[one] = s.name()
	}
	s := workloads()[0]
	plain, _ := s.fingerprint(unchanged)
	short, err := s.fingerprint(func(w io.Writer, r io.Reader) (int, error) {
		_, err := io.Copy(io.Discard, r)
		return 0, err
	})
	if err != nil || short == plain {
		t.Errorf("what happens to the data is not in its fingerprint: %s, %v", short, err)
	}
	if _, err := s.fingerprint(func(io.Writer, io.Reader) (int, error) { return 0, os.ErrInvalid }); err == nil {
		t.Error("a sample that cannot be made has a fingerprint")
	}
}
