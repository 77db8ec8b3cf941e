package download

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const picture = "\x89PNG\x0D\x0A\x1A\x0A and so on"

// server returns a server that does what its paths say.
func server(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, picture) })
	mux.HandleFunc("/gone", http.NotFound)
	mux.HandleFunc("/empty.gif", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere.png", http.StatusFound) })
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/round", http.StatusFound) })
	mux.HandleFunc("/local", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
	})
	mux.HandleFunc("/short", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, picture)
	})
	mux.HandleFunc("/endless", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	})
	mux.HandleFunc("/silent", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, picture)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// files returns the names in a directory.
func files(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name()
	}
	return strings.Join(names, " ")
}

func TestAFileIsSavedUnderAHarmlessName(t *testing.T) {
	at := server(t)
	for path, want := range map[string]string{
		"/a/b/meme.jpg":                         "q-meme.jpg",
		"/a/b/meme.jpg?size=../../x#":           "q-meme.jpg",
		"/i/af8d":                               "q-af8d.png",
		"/i/af8d/":                              "q-af8d.png",
		"":                                      "q-file.png",
		"/":                                     "q-file.png",
		"/..%2f..%2fetc%2fpasswd":               "q-passwd.png",
		"/%2e%2e%5c%2e%2e%5cboot.ini":           "q-boot.ini",
		"/.bashrc":                              "q-bashrc.png",
		"/-rf%20%3b%00%1b[2J.png":               "q--rf_____2J.png",
		"/%e2%80%ae.gnp":                        "q-gnp.png",
		"/moved":                                "q-moved.png",
		"/empty.gif":                            "q-empty.gif",
		"/" + strings.Repeat("n", 300) + ".png": "q-" + strings.Repeat("n", maxName-4) + ".png",
	} {
		dir := t.TempDir()
		s, err := Limits{Private: true}.Save(t.Context(), at+path, dir, "q")
		if err != nil || s.Path != filepath.Join(dir, want) || files(t, dir) != want {
			t.Errorf("%q: %v, %q, there is %q; want %q", path, err, s.Path, files(t, dir), want)
			continue
		}
		b, err := os.ReadFile(s.Path)
		if err != nil || int64(len(b)) != s.Bytes || path != "/empty.gif" && string(b) != picture {
			t.Errorf("%q: %v, %d bytes: %q", path, err, s.Bytes, b)
		}
	}
}

func TestWhatCannotBeHadLeavesNothingBehind(t *testing.T) {
	at := server(t)
	for from, want := range map[string]string{
		"":                               "not a URL of http or https",
		"meme.jpg":                       "not a URL of http or https",
		"file:///etc/passwd":             "not a URL of http or https",
		"http://":                        "not a URL of http or https",
		"http://a b/":                    "not a URL of http or https",
		"http://h\n/x":                   "not a URL of http or https",
		at + strings.Repeat("/x", 1<<20): "not a URL of http or https: it has",
		at + "/gone":                     `the server says: "404 Not Found"`,
		at + "/round":                    "redirects more than 10 times",
		at + "/local":                    "redirects to a \"file\"",
		at + "/short":                    "unexpected EOF",
		at + "/endless":                  "file is too large: more than 100000 bytes",
	} {
		dir := t.TempDir()
		s, err := Limits{Private: true, Bytes: 100_000, Time: time.Minute}.Save(t.Context(), from, dir, "q")
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 || s != (Saved{}) {
			t.Errorf("%.60q: %+v, %.500v", from, s, err)
		}
		if left := files(t, dir); left != "" {
			t.Errorf("%.60q: left behind: %s", from, left)
		}
	}
}

func TestAFileOfExactlyTheLimitIsTaken(t *testing.T) {
	at, dir := server(t), t.TempDir()
	if s, err := (Limits{Private: true, Bytes: int64(len(picture))}).Save(t.Context(), at+"/x", dir, "q"); err != nil ||
		s.Bytes != int64(len(picture)) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := (Limits{Private: true, Bytes: int64(len(picture)) - 1}).Save(t.Context(), at+"/y", dir, "q"); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}

func TestAServerThatStallsIsLeft(t *testing.T) {
	at, dir := server(t), t.TempDir()
	_, err := Limits{Private: true, Time: 50 * time.Millisecond}.Save(t.Context(), at+"/silent", dir, "q")
	if err == nil || !strings.Contains(err.Error(), "not done after 50ms") || files(t, dir) != "" {
		t.Errorf("%v; left behind: %s", err, files(t, dir))
	}
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := (Limits{Private: true, Time: time.Hour}).Save(ctx, at+"/silent", dir, "q"); !errors.Is(err, why) || files(t, dir) != "" {
		t.Errorf("%v; left behind: %s", err, files(t, dir))
	}
}

func TestALinkIsReplacedAndNotFollowed(t *testing.T) {
	at, dir, outside := server(t), t.TempDir(), filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(outside, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "q-x.png")); err != nil {
		t.Fatal(err)
	}
	s, err := Limits{Private: true}.Save(t.Context(), at+"/x.png", dir, "q")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(outside); err != nil || string(b) != "precious" {
		t.Errorf("what the link points to is now %q, %v", b, err)
	}
	if b, err := os.ReadFile(s.Path); err != nil || string(b) != picture {
		t.Errorf("%q, %v", b, err)
	}
}

func TestNoPlaceForTheFileIsAnError(t *testing.T) {
	at, dir := server(t), t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "q-x.png", "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := (Limits{Private: true}).Save(t.Context(), at+"/x.png", dir, "q"); err == nil || files(t, dir) != "q-x.png" {
		t.Errorf("%v; the directory has %s", err, files(t, dir))
	}
	if _, err := (Limits{Private: true}).Save(t.Context(), at+"/x.png", filepath.Join(dir, "none"), "q"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestPicturesWithoutAnExtensionGetOne(t *testing.T) {
	for head, want := range map[string]string{
		picture: ".png", "\xff\xd8\xff\xe0": ".jpg", "GIF89a": ".gif", "RIFF\x00\x00\x00\x00WEBPVP8 ": ".webp", "<html>": "", "": "",
	} {
		if got := nameOf("../q", "/a", []byte(head)); got != ".._q-a"+want {
			t.Errorf("%q: %s", head, got)
		}
	}
}

func FuzzNameOf(f *testing.F) {
	f.Add("q", "/a/../b.jpg")
	f.Add("..", "/\x00")
	f.Add("", strings.Repeat("ü", 200))
	f.Fuzz(func(t *testing.T, prefix, path string) {
		prefix = prefix[:min(len(prefix), 50)]
		name := nameOf(prefix, path, nil)
		if !filepath.IsLocal(name) || filepath.Base(name) != name || len(name) > 255 ||
			strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("%q and %q make %q", prefix, path, name)
		}
	})
}
