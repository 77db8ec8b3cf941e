package about

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
)

// teller is posta version.
type teller struct {
	*call.Call
	json bool
}

// VersionCommand returns posta version.
func VersionCommand(base *call.Call) *cli.Command {
	x := &teller{Call: base}
	return &cli.Command{
		Name:        "version",
		Usage:       "print the version of this program",
		Description: "Prints the version, what built it, and for which machine. --version prints the version alone.\n\n" + exit.Help,
		Flags:       []cli.Flag{call.JSONFlag(&x.json)},
		Action:      x.run,
	}
}

// versionInfo is what `posta version --json` prints. Revision is the commit; "" if the program was built outside a repository.
type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"`
	Modified bool   `json:"modified"` // some files differed from the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func (x *teller) run(*cli.Context) error {
	v := versionInfo{Version: x.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Revision = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if !x.json {
		x.Printf("posta %s, %s, %s/%s\n", v.Version, v.Go, v.OS, v.Arch)
		return nil
	}
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("version: %w", err)
	}
	x.Printf("%s\n", text)
	return nil
}
