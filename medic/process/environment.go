package process

import (
	"os"
	"slices"
	"strings"
)

// Environment returns the part of this process's environment that nodes and medics get. All else stays here: the environment of the user
// who runs posta up may hold credentials of a cloud, a database or an SSH agent. Nodes do not need them, and an attacker who controls a
// node must not have them. A list of what is secret was rejected, because nobody knows all names.
func Environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(passed, name) && !slices.ContainsFunc(passedPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	})
}

var (
	passed = []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", // for brokers over TLS
		"DOCKER_HOST", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "DOCKER_API_VERSION", // for medics
		"GOMAXPROCS", "GOMEMLIMIT", "GOGC", "GODEBUG", "GOTRACEBACK", "GORACE", "GOCOVERDIR",
	}
	passedPrefixes = []string{"LC_", "POSTA_"}
)
