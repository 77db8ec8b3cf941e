package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/ptytest"
)

// hostileNames are names of files that a shell changes, splits or runs if it expands or inserts them as they are. Each would leave the file
// "ran".
var hostileNames = []string{
	"$(touch ran).sql", "`touch ran`.sql", "x;touch ran;.sql", "x&touch ran&.sql", "x|touch ran|.sql", "x>ran.sql", "${IFS}(touch ran).sql",
	"(touch ran).sql",
	"a b.sql", "it's.sql", `"both".sql`, `back\slash.sql`, `$'\n'.sql`, "*.sql", "[a]?.sql", "{a,b}.sql", "~root.sql", "#x.sql", "!!.sql",
	"$HOME.sql", "=ls.sql", "a^b%c.sql",
	"two\nlines.sql", "two\n$(touch ran).sql", "tab\there.sql", "plain.sql",
}

// completesNames types a statement's file into a shell, up to the Tab, in a directory for each name. What the command gets must be the name
// itself.
func completesNames(t *testing.T, shell string, args []string, load string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	// Where this folder is missing, fish starts a process that fills it from all manual pages, and that outlives the test.
	if err := os.MkdirAll(filepath.Join(home, "fish", "generated_completions"), 0o700); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(home, "posta")
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	// What stands for posta says its last argument, unless the shell asks it for words.
	write(bin, `#!/bin/sh
case "$*" in *`+completionFlag+`|completion*) exec "$TEST_POSTA" "$@" ;; esac
for last; do :; done
printf '%s' "$last" >"$HOME/got.new" && mv "$HOME/got.new" "$HOME/got"
`, 0o700)
	p := ptytest.Open(t, 200, 24, nil)
	c := exec.Command(shell, args...)
	c.Dir = home
	c.Env = append(os.Environ(), selfVar+"=1", "TEST_POSTA="+self, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home,
		"ZDOTDIR="+home, "PATH="+home+":"+os.Getenv("PATH"), "TERM=dumb", "LC_ALL=C.UTF-8", "ENV=", "BASH_ENV=")
	if err := p.Start(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	say := func(text string) {
		t.Helper()
		if err := p.Type(text); err != nil {
			t.Fatal(err)
		}
	}
	got := filepath.Join(home, "got")
	answer := func(typed string) string {
		t.Helper()
		say(typed)
		await.Until(t, shell+" runs "+typed+": "+p.Said(), func() bool { _, err := os.Stat(got); return err == nil })
		text, err := os.ReadFile(got)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(got); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if begun := answer(load + "; posta begun\r"); begun != "begun" {
		t.Fatalf("%s begins with %q", shell, begun)
	}
	for i, name := range hostileNames {
		dir := filepath.Join(home, "dir"+string(rune('a'+i)))
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		write(filepath.Join(dir, name), "", 0o600)
		answer("cd " + dir + "; posta there\r")
		// fish does not complete names with these characters
		if got := answer("posta sql -f \t\r"); strings.TrimPrefix(got, "./") != name && !strings.ContainsAny(name, "\t\n") {
			t.Errorf("%s completes %q to %q", shell, name, got)
		}
		if _, err := os.Stat(filepath.Join(dir, "ran")); err == nil {
			t.Errorf("%s runs %q", shell, name)
		}
	}
}

// TestS1_BashRunsNoNames: bash completes names of files that others have chosen, and runs nothing in them.
func TestS1_BashRunsNoNames(t *testing.T) {
	completesNames(t, "bash", []string{"--noprofile", "--norc", "-i"}, "source <(posta completion bash)")
}
