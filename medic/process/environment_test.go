package process

import (
	"slices"
	"strings"
	"testing"
)

// TestS6_NodesInheritNoCredentials: what is not known to be needed does not reach a node or a medic.
func TestS6_NodesInheritNoCredentials(t *testing.T) {
	for _, name := range []string{
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "PGPASSWORD", "PGUSER", "OTEL_EXPORTER_OTLP_HEADERS", "SSH_AUTH_SOCK",
		"GITHUB_TOKEN", "NPM_TOKEN",
		"VAULT_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS", "KUBECONFIG", "GOPROXY", "HTTPS_PROXY", "LD_PRELOAD", "XPOSTA_X", "POSTAL",
	} {
		t.Setenv(name, "hush")
	}
	t.Setenv("LC_ALL", "C.UTF-8")
	t.Setenv("POSTA_LOG_SIZE", "64KiB")
	got := Environment()
	if i := slices.IndexFunc(got, func(v string) bool { return strings.Contains(v, "hush") }); i >= 0 {
		t.Errorf("it has %s", got[i])
	}
	for _, want := range []string{"LC_ALL=C.UTF-8", "POSTA_LOG_SIZE=64KiB"} {
		if !slices.Contains(got, want) {
			t.Errorf("it lacks %s", want)
		}
	}
}
