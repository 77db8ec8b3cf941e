package topology

import (
	"cmp"
	_ "embed"
	"errors"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Systemd describes machines without Docker; the zero value of each field stands for its default.
type Systemd struct {
	Program string // path of posta, default /usr/local/bin/posta
	User    string // the user as which nodes run, default posta
	Keys    bool   // each node and medic has a key directory, at SystemdKeys of its host's files
}

// Directories on a machine.
const (
	stateRoot = "/var/lib" // where systemd makes StateDirectory=
	stateName = "posta"    // below it, a directory for each cluster
	unitDir   = "etc/systemd/system"
	usersFile = "etc/sysusers.d/posta.conf"
	keysRoot  = "etc/posta" // below it, a directory for each cluster
)

//go:embed systemd.unit.tmpl
var unitSource string

//go:embed systemd.target.tmpl
var targetSource string

var (
	unitTemplate   = newTemplate("a unit", unitSource)
	targetTemplate = newTemplate("a target", targetSource)
)

// Unit returns the name of the unit of a node or medic.
func (t *Topology) Unit(id NodeID) string { return t.target() + "-" + string(id) + ".service" }

// target begins the names of all of the cluster's units. It contains the program's name: otherwise a cluster called network would take
// network.target.
func (t *Topology) target() string { return "posta-" + t.Name }

// SystemdKeys is the key directory of a node or medic, relative to its host's directory of a rendering, and relative to the root of the
// machine.
func (t *Topology) SystemdKeys(n Node) string { return path.Join(t.systemdKeys(), identityPath(n)) }

func (t *Topology) systemdKeys() string { return path.Join(keysRoot, t.Name, "keys") }

// identityPath returns ROLE/NAME of a node or medic.
func identityPath(n Node) string {
	if n.Stage == medicName {
		return path.Join(RoleMedic, string(n.ID))
	}
	return path.Join(RoleNode, string(n.ID))
}

// Systemd writes a directory for each host, laid out like the machine's own files: a unit for each node and medic, a target that contains
// all of them, the given text of the topology, and instructions to install it.
func (t *Topology) Systemd(s Systemd, text string) (files []File, err error) {
	hosts, err := t.machines()
	if err != nil {
		return nil, err
	}
	s.Program, s.User = cmp.Or(s.Program, "/usr/local/bin/posta"), cmp.Or(s.User, "posta")
	for _, h := range hosts {
		more, err := t.systemdHost(s, h, text)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return files, nil
}

func (t *Topology) systemdHost(s Systemd, h Host, text string) (files []File, err error) {
	add := func(name, text string, e error) {
		files, err = append(files, File{Name: h.Name + "/" + name, Text: text}), errors.Join(err, e)
	}
	add(strings.TrimPrefix(t.stateDir(), "/")+"/topology.toml", text, nil)
	files[0].Private = t.HasBrokerSecret()
	add(usersFile, "# Whose the nodes are.\nu "+s.User+" - \"Posta\" "+path.Join(stateRoot, stateName)+"\n", nil)
	target, e := fill(targetTemplate, unitData{Cluster: t.Name, Host: h.Name, Target: t.target() + ".target", Nodes: t.units(t.nodesAt(h)),
		Medics: t.units(t.medicsAt(h))})
	add(unitDir+"/"+t.target()+".target", target, e)
	for _, n := range append(t.nodesAt(h), t.medicsAt(h)...) {
		unit, e := fill(unitTemplate, t.unitData(s, h, n))
		add(unitDir+"/"+t.Unit(n.ID), unit, e)
	}
	about := installData{Cluster: t.Name, Host: h.Name, Address: h.Address, Target: t.target() + ".target", Dir: t.stateDir(), User: s.User,
		Private: t.HasBrokerSecret()}
	if s.Keys {
		about.Keys = "/" + t.systemdKeys()
	}
	note, e := fill(systemdInstall, about)
	add("INSTALL.md", note, e)
	return files, err
}

// unitData is the content of a unit, or of the target. All strings are in systemd's own notation.
type unitData struct {
	Cluster, Host, Name, Target string
	Program, File, User         string
	Keys                        string // directory; "" without keys
	WorkingDirectory            string
	State                       []string // below stateRoot, made by systemd
	Made                        []place  // directories elsewhere, which the unit itself makes
	Medic                       bool
	Stop                        string
	Nodes, Medics               []string // units of the host
}

// place is a directory, as settings write it and as commands write it.
type place struct{ Word, Exec string }

func (t *Topology) unitData(s Systemd, h Host, n Node) unitData {
	d := unitData{
		Cluster: t.Name, Host: h.Name, Name: string(n.ID), Target: t.target() + ".target",
		Program: execWord(s.Program), File: execWord(t.stateDir() + "/topology.toml"), User: s.User, WorkingDirectory: unitText(t.stateDir()),
		Medic: n.Stage == medicName, Stop: unitTime(t.Limits.Drain + exitGrace), Nodes: t.units(t.nodesAt(h)),
	}
	if s.Keys {
		d.Keys = execWord("/" + t.SystemdKeys(n))
	}
	dirs := []string{path.Join(t.installedData(), string(n.ID))}
	if d.Medic {
		dirs = append(dirs, path.Join(t.installedData(), fenceVolume))
		d.Stop = unitTime(medicGrace)
	}
	for _, dir := range dirs {
		if below, ok := strings.CutPrefix(dir, stateRoot+"/"); ok && !strings.ContainsAny(below, stateSpecial) {
			d.State = append(d.State, unitWord(below))
		} else {
			d.Made = append(d.Made, place{unitWord(dir), execWord(dir)})
		}
	}
	return d
}

func (t *Topology) units(nodes []Node) []string {
	return texts(nodes, func(n Node) string { return t.Unit(n.ID) })
}

// stateDir is where the topology is installed, because a relative directory for data is relative to the file.
func (t *Topology) stateDir() string { return path.Join(stateRoot, stateName, t.Name) }

// installedData returns where the nodes' data is on the machine.
func (t *Topology) installedData() string {
	if filepath.IsAbs(t.data) {
		return path.Clean(filepath.ToSlash(t.data))
	}
	return path.Join(t.stateDir(), filepath.ToSlash(t.data))
}

// unitText escapes a value that is a whole line: % would begin a specifier of systemd.
func unitText(s string) string { return strings.ReplaceAll(s, "%", "%%") }

// unitWord quotes one word of a setting that has several. In quotes a backslash escapes the next character, and that is the only escape
// that all settings have. A value of the topology has no line end or other control character.
func unitWord(s string) string {
	if s = unitText(s); !strings.ContainsAny(s, " \"'\\;") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// stateSpecial are the characters that StateDirectory= cannot contain, or to which some versions of systemd give another meaning.
const stateSpecial = `:\"'`

// execWord quotes one word of a command; a dollar would begin a variable there.
func execWord(s string) string { return strings.ReplaceAll(unitWord(s), "$", "$$") }

// unitTime rounds up: a node must not be killed in its last moment.
func unitTime(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10) + "ms"
}
