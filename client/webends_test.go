package client

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"posta.dev/posta/client/source/web"
	"posta.dev/posta/rows/csv"
)

// TestC1_AnAnswerThatIsCutIsNoFile: of CSV, packed and Parquet, over https, from a server that does not say how long its answers are. Over
// http a cut cannot be told from an end, so there is a warning.
func TestC1_AnAnswerThatIsCutIsNoFile(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	stations, want := csvFile("stations", 5)
	trips, rides := csvFile("trips", 2000)
	columnar, others := inParquet(t, 50)
	bodies := map[string][]byte{"/a/trips.csv": trips, "/a/trips.csv.gz": packed(t, trips), "/a/trips.parquet": columnar}
	var halved atomic.Bool
	answer := func(w http.ResponseWriter, r *http.Request) {
		c, out, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		body := bodies[r.URL.Path]
		half := halved.Load()
		if half {
			body = body[:len(body)/2]
		}
		_, _ = out.WriteString("HTTP/1.0 200 OK\r\n\r\n")
		_, _ = out.Write(body)
		_ = out.Flush()
		if secure, is := c.(*tls.Conn); is && half {
			c = secure.NetConn() // the connection ends without the close notify of TLS
		}
		_ = c.Close()
	}
	secure, plain := httptest.NewTLSServer(http.HandlerFunc(answer)), httptest.NewServer(http.HandlerFunc(answer))
	defer secure.Close()
	defer plain.Close()
	trusted := filepath.Join(t.TempDir(), "trusted.pem")
	if err := os.WriteFile(trusted, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", trusted) // no other test of this package asks for the system's certificates, which are read once
	for path := range bodies {
		for _, server := range []string{secure.URL, plain.URL} {
			for _, half := range []bool{false, true} {
				halved.Store(half)
				f := newFakeCluster(t, 1, 1)
				cfg := f.config()
				file := filepath.Join(t.TempDir(), "stations.csv")
				if err := os.WriteFile(file, stations, 0o600); err != nil {
					t.Fatal(err)
				}
				cfg.Dir, cfg.Named = "", []Named{{"a/stations.csv", file}, {"trips", server + path}}
				cfg.Columns = func(string) []csv.Column { return []csv.Column{{Name: "id"}, {Name: "line"}} }
				answer, err := Run(during(t, time.Minute), cfg)
				warned := answer != nil && len(answer.Warnings) == 1 && strings.Contains(answer.Warnings[0].Text, web.NoEnd)
				switch name := server + path; {
				case half && server == secure.URL:
					if !errors.Is(err, web.ErrCut) || !errors.Is(err, ErrInput) {
						t.Errorf("half of %s: %v", name, err)
					}
				case half && path != "/a/trips.csv":
					if !errors.Is(err, ErrInput) {
						t.Errorf("half of %s: %v", name, err)
					}
				case err != nil || warned != (server == plain.URL):
					t.Errorf("%s, half: %v: %v, %v", name, half, answer, err)
				case !half:
					arrived := rides
					if path == "/a/trips.parquet" {
						arrived = others
					}
					f.compare(map[string][]string{"stations a/stations.csv": want, "trips a/trips.csv": arrived})
				}
			}
		}
	}
}
