package call

import (
	"strings"

	"github.com/urfave/cli/v2"

	"posta.dev/posta/cmd/internal/exit"
)

// Names of flags that several commands have.
const (
	FlagTopology = "topology"
	FlagEntry    = "entry"
	FlagJSON     = "json"
	FlagOut      = "out"
	FlagFormat   = "format"
	FlagDownload = "download"
	FlagData     = "data"
	FlagParam    = "param"
	FlagLanes    = "lanes"
	FlagChunk    = "chunk"
	FlagSend     = "send"
	FlagTimeout  = "timeout"
	FlagQuiet    = "quiet"
	FlagHost     = "host"
	FlagAddress  = "address"
	FlagKey      = "key"
	FlagResume   = "resume"
	FlagDocker   = "docker"
	FlagSystemd  = "systemd"
	FlagRender   = "render"

	FlagDelimiter = "delimiter"
	FlagFile      = "file"

	FlagDownloadPrivate = "download-private"
)

// KeyFlag names the directory of the user's key.
func KeyFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagKey, EnvVars: []string{"POSTA_KEY"},
		Usage: "the `DIR` of your key, for a cluster with keys. Without this flag the key is looked for in posta/keys/CLUSTER of " +
			"$XDG_CONFIG_HOME (~/.config), then where posta key new writes it"}
}

// TopologyFlag names the topology file.
func TopologyFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagTopology, Aliases: []string{"f"}, Value: "topology.toml", EnvVars: []string{"POSTA_TOPOLOGY"},
		Usage: "the `FILE` that describes the system"}
}

// EntryFlag names entry points of a cluster, in place of a topology file.
func EntryFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: FlagEntry, Aliases: []string{"e"}, EnvVars: []string{"POSTA_ENTRY"},
		Usage: "an `ENDPOINT` of the cluster, like tcp://host:5500, instead of a topology file; may be repeated"}
}

// AddressFlag says at which address nodes and medics find each other.
func AddressFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagAddress, EnvVars: []string{"POSTA_ADDRESS"}, DefaultText: "what the file says",
		Usage: "the `ADDRESS` at which nodes and medics find each other, on every host; in a network of containers write \"{node}\", which " +
			"stands for the node's name. Clients use the addresses of the file"}
}

// JSONFlag asks for JSON on standard output. to becomes what it says, if it is not nil.
func JSONFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: FlagJSON, Destination: to, Usage: "print JSON, and nothing else, on standard output"}
}

// HostFlag names hosts of the topology.
func HostFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: FlagHost,
		Usage: "only the nodes of the host called `NAME` in the topology; may be repeated. Needed when there are several machines"}
}

// OneArgument returns the one argument that a command needs.
func OneArgument(c *cli.Context, what, example string) (string, error) {
	switch c.NArg() {
	case 1:
		return c.Args().First(), nil
	case 0:
		return "", exit.Usagef("%s: which %s? Like: posta %[1]s %[3]s", CommandName(c), what, example)
	}
	return "", exit.Usagef("%s: give one %s, not %d (%s)", CommandName(c), what, c.NArg(), strings.Join(c.Args().Slice(), " "))
}

// CommandName returns the words behind posta: "log verify".
func CommandName(c *cli.Context) string {
	return strings.TrimSpace(strings.TrimPrefix(c.Command.HelpName, "posta"))
}

// NoArguments refuses arguments, which the command would otherwise ignore.
func NoArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return exit.Usagef("%s: takes no arguments, but got %q; posta %[1]s --help lists its flags", CommandName(c), c.Args().First())
	}
	return nil
}

// DockerFlag says that processes are containers.
func DockerFlag() cli.Flag {
	return &cli.BoolFlag{Name: FlagDocker, Usage: "nodes and medics are containers, found by the labels posta.cluster and posta.node"}
}

// SystemdFlag says that processes are units of systemd.
func SystemdFlag() cli.Flag {
	return &cli.BoolFlag{Name: FlagSystemd, Usage: "nodes and medics are units of systemd, as posta deploy --render systemd names them"}
}

// Hidden hides a flag that only posta itself uses with this command.
func Hidden(f cli.Flag) cli.Flag {
	switch f := f.(type) {
	case *cli.StringFlag:
		f.Hidden = true
	case *cli.BoolFlag:
		f.Hidden = true
	}
	return f
}

// ResumeFlag names what a command continues.
func ResumeFlag() cli.Flag {
	return &cli.StringFlag{Name: FlagResume, Usage: "continue the session `ID`, whose client is gone, with the same files, from any " +
		"machine. What the cluster has taken is compared and not sent again. For a file of statements, the file that --journal named"}
}
