package consoles

import (
	"os"
	"strings"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/internal/owned"
)

// leastToken is the least length of a token, in characters. Nothing limits how often a scraper may try, so a short token could be guessed.
const leastToken = 16

// scrapeToken reads the token from the file of --metrics-token; "" if there is no file. It is in a file because lists of processes show
// arguments.
func scrapeToken(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	text, err := owned.Read(file)
	if err != nil {
		return "", exit.Usagef("console: --metrics-token: %s", exit.OneLine(err))
	}
	if info, err := os.Lstat(file); err == nil && info.Mode().Perm()&0o077 != 0 {
		return "", exit.Usagef("console: --metrics-token: others may read %s (mode %#o): run chmod 600 %s", file, info.Mode().Perm(), file)
	}
	token := strings.TrimSpace(string(text))
	if len(token) < leastToken || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", exit.Usagef("console: --metrics-token: the token in %s is not one word of at least %d characters: make one with head -c 32 "+
			"/dev/urandom | base64 > %s", file, leastToken, file)
	}
	return token, nil
}
