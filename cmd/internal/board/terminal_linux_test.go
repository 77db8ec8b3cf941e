package board

import (
	"context"
	"strings"
	"testing"

	"posta.dev/posta/test/await"
	"posta.dev/posta/test/ptytest"
)

// TestATerminalThatAnswersNothing: the board is shown, takes keys and restores the terminal, although the terminal answers none of its
// questions.
func TestATerminalThatAnswersNothing(t *testing.T) {
	p := ptytest.Open(t, 80, 24, nil)
	s := cluster(t, 2, 1)
	looks := 0
	look := func(ctx context.Context) (*Seen, error) {
		if looks++; looks == 1 {
			return s, nil
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ended := make(chan error, 1)
	go func() { ended <- Run(t.Context(), Config{In: p.File(), Out: p.File(), Colours: true, Look: look}) }()
	hears := func(text string) {
		t.Helper()
		await.Until(t, "the terminal hears "+text, func() bool { return strings.Contains(p.Said(), text) })
	}
	hears("medic-2 leads")
	if err := p.Type("h"); err != nil {
		t.Fatal(err)
	}
	hears("what it does")
	if err := p.Type("q"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	hears("\x1b[?1049l")
}
