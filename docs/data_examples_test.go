package docs

import (
	"bytes"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"posta.dev/posta/analyses/sql/types"
	"posta.dev/posta/client/source/parquet"
	"posta.dev/posta/internal/gen"
	"posta.dev/posta/protocol"
	"posta.dev/posta/test/s3test"
	"posta.dev/posta/topology"
)

// TestTheExamplesOfFilesRun runs every example of data.md that names files by --file, with what they name: below /mnt, at an address, and
// in a bucket; and those that name files by --out, which are there then.
func TestTheExamplesOfFilesRun(t *testing.T) {
	page, err := os.ReadFile("data.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := gen.Bikes(gen.OnDisk(filepath.Join(dir, "data", "bikes")), 2_000, 1); err != nil {
		t.Fatal(err)
	}
	of := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, "data", "bikes", "montreal", name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	encoder, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := encoder.EncodeAll(of("trips.csv"), nil)
	if err := encoder.Close(); err != nil {
		t.Fatal(err)
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(of("trips.csv")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"archive/montreal/trips.csv.zst": packed, "rides.gz": zipped.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	web := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/montreal/trips.csv.zst" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"1"`)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(packed))
	}))
	defer web.Close()
	authority := filepath.Join(dir, "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	s3test.Start(t, "rides", map[string][]byte{"2016/montreal.csv.zst": packed, "2016/montreal/trips.csv.zst": packed,
		"2016/montreal/stations.csv": of("stations.csv"), "montreal/weather.parquet": weather(t)})
	t.Setenv("SSL_CERT_FILE", authority)

	commands := buildPosta + "cd '" + dir + "'\n"
	ran := 0
	for line := range strings.Lines(string(page)) {
		command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		if !indented || !strings.Contains(command, "posta run") || !strings.Contains(command, "--file") {
			continue
		}
		ran++
		command = strings.NewReplacer("/mnt/", dir+"/", "https://host", web.URL).Replace(command)
		commands += command + " --quiet > out.txt 2> errors.txt || { cat errors.txt; exit 1; }\ngrep -q '^rain: ' out.txt\n"
	}
	if ran < 5 {
		t.Errorf("%d examples were found", ran)
	}
	perform(t, "set -e\n"+commands+outs(t))
}

// outs returns the page's commands with --out, and of each that the files are there which the page names behind it.
func outs(t *testing.T) (commands string) {
	t.Helper()
	files := 0
	for _, b := range load(t, "data.md") {
		if b.language != "sh" || !strings.Contains(b.text, "--out answers") {
			continue
		}
		for line := range strings.Lines(b.text) {
			command, names, said := strings.Cut(strings.TrimSpace(line), "#")
			if !said {
				t.Fatalf("data.md:%d: %q does not say which files it writes", b.line, line)
			}
			commands += command + " --quiet > out.txt 2> errors.txt || { cat errors.txt; exit 1; }\n"
			for _, name := range strings.FieldsFunc(names, func(r rune) bool { return r == ' ' || r == ',' }) {
				if strings.HasPrefix(name, "answers") {
					commands += "test -s " + name + " || { echo 'not there: " + name + "'; exit 1; }\n"
					files++
				}
			}
		}
	}
	if files != 5 {
		t.Errorf("%d files are named", files)
	}
	return commands
}

// TestTheTopologyOfDataIsOne: the page's lines of a topology file say what the page says of them.
func TestTheTopologyOfDataIsOne(t *testing.T) {
	for _, b := range load(t, "data.md") {
		if b.language != "toml" {
			continue
		}
		text := strings.Replace(topology.DefaultText(), "[data]\n", b.text, 1)
		top, err := topology.Parse("data.md", []byte(text))
		if err != nil {
			t.Fatalf("data.md:%d: %v", b.line, err)
		}
		for _, n := range top.Nodes() {
			if roots := top.RootsOf(n.Host); !slices.Equal(roots, []string{"/srv/data"}) {
				t.Errorf("node %s reads below %q", n.ID, roots)
			}
		}
		return
	}
	t.Error("data.md has no lines of a topology file")
}

// weather returns a day of rain as Parquet.
func weather(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewWriter(&b, []string{"date", "prectot"}, []types.Type{types.Of(types.Text), types.Of(types.Double)})
	for _, day := range []string{"2016-05-05", "2016-05-06"} {
		if err := w.Row([]protocol.Value{{Text: day}, {Kind: protocol.Float, Float: 31.5}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
