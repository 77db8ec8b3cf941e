package submit

import (
	"testing"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/protocol/session"
)

// TestR17_TheCommandThatResumes: the message shows the original command with the session's id, quoted for a shell.
func TestR17_TheCommandThatResumes(t *testing.T) {
	x := &call.Call{Arguments: []string{"bikes", "--data", "my data", "--session", "17", "-q", "--resume=18", "--out", "it's"}}
	c := cli.NewContext(nil, nil, nil)
	c.Command = &cli.Command{Name: "submit"}
	want := `posta submit bikes --data 'my data' -q --out 'it'\''s' --resume 6ba7b810-9dad-41d1-80b4-00c04fd430c8`
	id, err := session.Parse("6ba7b810-9dad-41d1-80b4-00c04fd430c8")
	if got := resumes(x, c, id); err != nil || got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
