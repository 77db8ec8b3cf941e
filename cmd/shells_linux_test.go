//go:build shells

package cmd

import "testing"

// TestS1_ShellsRunNoNames is TestS1_BashRunsNoNames for the shells that have to be installed first.
func TestS1_ShellsRunNoNames(t *testing.T) {
	t.Run("zsh", func(t *testing.T) {
		completesNames(t, "zsh", []string{"-f", "-i"}, "autoload -U compinit; compinit -u -D; source <(posta completion zsh)")
	})
	t.Run("fish", func(t *testing.T) {
		completesNames(t, "fish", []string{"--interactive"}, "posta completion fish | source")
	})
}
