package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"posta.dev/posta/client/source/web"
	"posta.dev/posta/test/s3test"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func rows(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "%d,row\n", i)
	}
	return b.Bytes()
}

const odd = "d/with space/+é&?=#%/tr ips.csv"

func serve(t *testing.T) *s3test.Server {
	return s3test.Start(t, "rides", map[string][]byte{"a/trips.csv": rows(50_000), "b/trips.csv": rows(3), "b/other.csv": rows(1),
		"c/deep/trips.csv": rows(2), odd: rows(4), "b/": nil})
}

// get reads an object.
func get(key string) ([]byte, error) {
	s, err := Load()
	if err != nil {
		return nil, err
	}
	f, err := s.Open(context.Background(), "rides", key, nil)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(f)
	return text, errors.Join(err, f.Close())
}

// TestC1_ObjectsAreReadWhole: requests are signed, and reading continues after a connection was cut.
func TestC1_ObjectsAreReadWhole(t *testing.T) {
	server := serve(t)
	for _, key := range []string{"a/trips.csv", "b/trips.csv", odd} {
		if got, err := get(key); err != nil || !bytes.Equal(got, server.Objects[key]) {
			t.Errorf("%s: %d bytes, %v", key, len(got), err)
		}
	}
	server.Cut("a/trips.csv", 100_000)
	if got, err := get("a/trips.csv"); err != nil || !bytes.Equal(got, server.Objects["a/trips.csv"]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if seen := server.Seen(); !strings.Contains(seen[len(seen)-1], "bytes=100000-") {
		t.Errorf("after the cut it was asked for %q", seen[len(seen)-1])
	}
}

func TestC1_ObjectsOfAPattern(t *testing.T) {
	serve(t)
	s, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string][]string{
		"*/trips.csv": {"a/trips.csv", "b/trips.csv"}, "b/*.csv": {"b/other.csv", "b/trips.csv"}, "[ab]/t*": {"a/trips.csv", "b/trips.csv"},
		"d/with space/*/*": {odd}, "x*": nil,
	} {
		if got, err := s.Glob(t.Context(), "rides", pattern); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", pattern, got, err)
		}
	}
	if _, err := s.Glob(t.Context(), "rides", "a/["); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
	if _, err := s.Glob(t.Context(), "other", "*"); !errors.Is(err, web.ErrRefused) || !strings.Contains(err.Error(), "NoSuchBucket") {
		t.Error(err)
	}
}

// TestR16_AListThatNeverEnds: a server that says with each page that there are more does not keep the client.
func TestR16_AListThatNeverEnds(t *testing.T) {
	server := serve(t)
	for name, c := range map[string]struct {
		next func(page int) string
		says string
	}{
		"new tokens":  {strconv.Itoa, "more than 50 pages"},
		"in a circle": {func(page int) string { return strconv.Itoa(page % 3) }, "does not continue behind page 4"},
		"no token":    {func(int) string { return "" }, "does not continue behind page 1"},
	} {
		pages := 0
		server.Next = func() string { pages++; return c.next(pages) }
		s, err := Load()
		if err != nil {
			t.Fatal(err)
		}
		s.pages = 50
		if _, err := s.Glob(t.Context(), "rides", "*/trips.csv"); err == nil || !strings.Contains(err.Error(), c.says) || pages > 50 {
			t.Errorf("%s: after %d pages %v", name, pages, err)
		}
	}
}

// TestC1_CredentialsOfFiles: they are found as the AWS tools find them, and are never shown.
func TestC1_CredentialsOfFiles(t *testing.T) {
	server := serve(t)
	dir := t.TempDir()
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_REGION"} {
		t.Setenv(name, "")
	}
	credentials, config := filepath.Join(dir, "credentials"), filepath.Join(dir, "config")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", credentials)
	t.Setenv("AWS_CONFIG_FILE", config)
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	where := "region = " + s3test.Region + "\nendpoint_url = " + server.URL + "\n"
	keys := "aws_access_key_id = " + s3test.Key + "\naws_secret_access_key = " + s3test.Secret + "\n"
	for name, c := range map[string]struct{ profile, credentials, config string }{
		"both files":       {"", "[default]\n" + keys, "[default]\n" + where},
		"another profile":  {"work", "[default]\nx = 1\n[work]\n" + keys, "[default]\nregion = nowhere-1\n[profile work]\n" + where},
		"only config":      {"", "", "[default]\n" + keys + where},
		"a profile in one": {"work", "", "[profile work]\n" + keys + where},
	} {
		t.Setenv("AWS_PROFILE", c.profile)
		put(credentials, c.credentials)
		put(config, c.config)
		if got, err := get("b/trips.csv"); err != nil || !bytes.Equal(got, rows(3)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	t.Setenv("AWS_PROFILE", "")
	for name, c := range map[string]struct {
		credentials, config string
		want                error
		says                string
	}{
		"none": {"", "[default]\n" + where, ErrSettings, "there are no credentials"},
		"a wrong secret": {"[default]\naws_access_key_id = " + s3test.Key + "\naws_secret_access_key = hidden\n", "[default]\n" + where,
			web.ErrRefused, "SignatureDoesNotMatch"},
		"a wrong key": {"[default]\naws_access_key_id = OTHER\naws_secret_access_key = hidden\n", "[default]\n" + where, web.ErrRefused,
			"InvalidAccessKeyId"},
		"another region": {"[default]\n" + keys, "[default]\nendpoint_url = " + server.URL + "\n", web.ErrRefused,
			"AuthorizationHeaderMalformed"},
		"no endpoint":      {"[default]\n" + keys, "[default]\nendpoint_url = here\n", ErrSettings, "not an address like"},
		"a file of others": {"[default]\n" + keys, "[default\naws_secret_access_key hidden", ErrSettings, "cannot be read"},
	} {
		put(credentials, c.credentials)
		put(config, c.config)
		_, err := get("b/trips.csv")
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), s3test.Secret) ||
			strings.Contains(err.Error(), "Signature=")) {
			t.Errorf("%s: %v shows a secret", name, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{"s3://rides/a/b.csv": "rides|a/b.csv", "s3://rides/": "", "s3://": "", "s3://a/b": "",
		"s3://a b/c": "", "s3://my.bucket/*/x": "my.bucket|*/x"} {
		bucket, key, err := Split(address)
		if got := bucket + "|" + key; (want == "") != (err != nil) || err == nil && got != want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
	s := &Store{region: "eu-west-1"}
	for key, want := range map[string]string{"bucket": "https://bucket.s3.eu-west-1.amazonaws.com/a%20b/c",
		"my.bucket": "https://s3.eu-west-1.amazonaws.com/my.bucket/a%20b/c"} {
		if got := s.address(key, "a b/c"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
