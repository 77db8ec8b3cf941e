//go:build interop

package docs

import (
	"os"
	"strings"
	"testing"
)

// TestPythonExamplesOfThePage installs the package as a reader does, but without a network, runs the examples of python.md with the program
// of this folder, and the script of examples/python. PYTHON names the interpreter, which has zmq, msgpack, pandas, setuptools, wheel, pip
// and venv.
func TestPythonExamplesOfThePage(t *testing.T) {
	python := os.Getenv("PYTHON")
	if python == "" {
		python = "python3"
	}
	all := load(t, "python.md")
	var session strings.Builder
	examples := 0
	for _, b := range all {
		if b.language == "pycon" {
			session.WriteString(b.text + "\n")
			examples += strings.Count(b.text, ">>> ")
		}
	}
	if examples < 10 {
		t.Fatalf("the page has %d examples; are they still marked as pycon?", examples)
	}
	prepare := buildPosta + `mkdir data
cp -r "$POSTA/client/python" package
` + python + ` -m venv --system-site-packages venv
venv/bin/pip install --quiet --no-index --no-build-isolation --no-deps ./package
`
	run := `cat > page.txt <<'END OF THE PAGE'
` + session.String() + `END OF THE PAGE
posta topology new > topology.toml
trap 'posta down >&2' EXIT
posta up >&2
venv/bin/python -c '
import doctest, sys
found = doctest.testfile("page.txt", module_relative=False)
sys.exit(found.failed != 0)' >&2
posta gen bikes --rows 20000 --out bikes >&2
venv/bin/python "$POSTA/examples/python/notebook.py" bikes
`
	out := perform(t, prepare+script(all)+run)
	for _, want := range []string{"rain: ", "the same on a cluster of its own: True", "progress: uploading"} {
		if !strings.Contains(out, want) {
			t.Errorf("notebook.py does not print %q:\n%s", want, out)
		}
	}
}
