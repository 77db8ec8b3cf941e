package tracing

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
)

func envOf(m map[string]string) func(string) string {
	return func(name string) string { return m[name] }
}

// Headers come from flags and from the variables of OpenTelemetry, whose values are percent-encoded. Those of flags replace those of the
// same name.
func TestCollector_Headers(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags []string
		env   map[string]string
		want  http.Header
	}{
		{"none", nil, nil, http.Header{}},
		{"flags", []string{"Authorization: Bearer a:b, c", "x-scope:one", "x-scope: two", "X-Empty:"}, nil,
			http.Header{"Authorization": {"Bearer a:b, c"}, "X-Scope": {"one", "two"}, "X-Empty": {""}}},
		{"environment", nil, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": " api-key = a%20b%2Cc+d==,, Authorization=Basic%20eDp5,"},
			http.Header{"Api-Key": {"a b,c+d=="}, "Authorization": {"Basic eDp5"}}},
		{"for traces", nil, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b=2"},
			http.Header{"B": {"2"}}},
		{"both", []string{"API-KEY: flag"}, map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "api-key=env,other=1"},
			http.Header{"Api-Key": {"flag"}, "Other": {"1"}}},
	} {
		var got http.Header
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = r.Header }))
		collector, err := NewCollector(server.URL, c.flags, envOf(c.env))
		if err == nil {
			err = collector.Send(t.Context(), []byte("{}"))
		}
		server.Close()
		if err != nil || got.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		for _, own := range []string{"Accept-Encoding", "Content-Length", "Content-Type", "User-Agent"} {
			got.Del(own)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: the collector gets %v, want %v", c.name, got, c.want)
		}
	}
}

// A header that cannot be sent is an error that shows neither its name nor its value.
func TestCollector_WrongHeaders(t *testing.T) {
	const at = "http://localhost:4318"
	for name, c := range map[string]struct {
		at, flag, env, want string
	}{
		"no colon":           {at, "sesame", "", "header 1 has no colon"},
		"no name":            {at, ": sesame", "", "its name is not one word"},
		"two words":          {at, "sesame x: y", "", "its name is not one word"},
		"a line feed":        {at, "x: a\nsesame: b", "", "its value has control characters"},
		"a line feed, coded": {at, "", "x=a%0d%0asesame", "header 1 of OTEL_EXPORTER_OTLP_HEADERS: its value has control characters"},
		"an own one":         {at, "content-type: sesame", "", "Content-Type is set by posta itself"},
		"another own one":    {at, "", "a=b,host=sesame", "header 2 of OTEL_EXPORTER_OTLP_HEADERS: Host is set by posta itself"},
		"no =":               {at, "", "sesame", "header 1 of OTEL_EXPORTER_OTLP_HEADERS has no ="},
		"a wrong %":          {at, "", "x=sesame%zz", "two hexadecimal digits"},
		"no collector":       {"", "x: sesame", "", "no collector that gets them"},
		"a wrong address":    {"ftp://sesame@host", "", "", "is no address of a collector"},
		"another":            {"host:1?key=sesame", "", "", "is no address of a collector"},
	} {
		var flags []string
		if c.flag != "" {
			flags = []string{c.flag}
		}
		got, err := NewCollector(c.at, flags, envOf(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": c.env}))
		if got != nil || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if got, err := NewCollector("", nil, envOf(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "wrong"})); got != nil || err != nil {
		t.Errorf("headers for no collector: %v, %v", got, err)
	}
}

// A collector that repeats what it was sent, or sends the request to another address, makes no secret known.
func TestCollector_ErrorsShowNoSecret(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the headers reach another server") }))
	defer elsewhere.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Query().Get("do") {
		case "redirect":
			http.Redirect(w, r, elsewhere.URL+"/?key="+r.Header.Get("X-Key"), http.StatusTemporaryRedirect)
		case "cut":
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, strings.Repeat(".", 512-len("open-ses"))+r.Header.Get("X-Key"))
		default:
			http.Error(w, "wrong: "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+" and "+r.Header.Get("X-Key"),
				http.StatusUnauthorized)
		}
	}))
	address := strings.Replace(server.URL, "http://", "http://me:open-sesame@", 1)
	post := func(ctx context.Context, do string) string {
		c, err := NewCollector("", []string{"Authorization: Bearer open-sesame-2", "X-Key: open-sesame"},
			envOf(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": address + "/v1/traces?do=" + do + "&key=sesame"}))
		if err != nil {
			t.Fatal(err)
		}
		if err = c.Send(ctx, []byte("{}")); err == nil {
			t.Fatal("no error")
		}
		return err.Error() + c.String()
	}
	for do, want := range map[string]string{"": "401 Unauthorized: wrong: [hidden] and [hidden]",
		"redirect": "it redirects to " + elsewhere.URL, "cut": "401 Unauthorized"} {
		if got := post(t.Context(), do); !strings.Contains(got, want) || strings.Contains(got, "ses") {
			t.Errorf("%q: %s", do, got)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if got := post(ended, ""); strings.Contains(got, "sesame") {
		t.Errorf("a request that ends: %s", got)
	}
	server.Close()
	if got := post(t.Context(), ""); !strings.Contains(got, "refused") || strings.Contains(got, "sesame") {
		t.Errorf("nobody is there: %s", got)
	}
}
