package topology

import (
	"errors"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile are values that were once, or could be, taken for something else by what reads a rendering.
var hostile = []string{
	"data\nExecStartPre=+/bin/sh -c 'id'", "data\rUser=root", "data\\", `a"b`, "it's", "a b", "100%", "%h/%i", "$HOME", "${HOME}", "$$",
	"a;b", "a:b",
	"x # y", "{a: b}", "- a", "*a", "&a", "!!python", "a, b", "\u2028ExecStart=/bin/id", "\u2029", "\u0085x", "\u200b", "\ufeff", "\u00a0x",
	"\U000e0001",
	"\x00", "\x1b[2J", "\x7f", "é", "日本", "/abs", "../up", "~", ` \n`, `\x0a`, "'; rm -rf /; '", "`id`", "$(id)", "a\tb", "/var/lib/p:q",
	`/var/lib/p"q`, "/srv/p q", "/srv/$HOME/100%",
}

// TestS_NoValueBreaksALine: the text of a topology is refused where it holds what could end a line somewhere.
func TestS_NoValueBreaksALine(t *testing.T) {
	for _, c := range []string{"\n", "\r", "\u0085", "\u2028", "\u2029", "\x00", "\x1b"} {
		for _, key := range []string{"[cluster]\ndata = ", "[cluster]\nname = ", "[hosts.a]\naddress = ", "[hosts.a]\nengine_socket = ",
			"[hosts.a]\nengine = ", "[rabbitmq]\nurl = ", "[nothing]\nx = "} {
			_, err := Parse("t.toml", []byte(key+tomlString("/a"+c+"b")+"\n"))
			if err == nil || !strings.Contains(err.Error(), "control character") {
				t.Errorf("%s with %q: %v", key, c, err)
			}
		}
	}
}

// FuzzRenderings has any text as a data directory. What is rendered is read back as systemd and compose read it: it has the lines that a
// plain directory makes, and the directory in them is the one that was given.
func FuzzRenderings(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, dir string) {
		if !utf8.ValidString(dir) {
			return // no topology has such a text
		}
		text, err := Generate(Variant{Dir: dir, Address: "127.0.0.1", Settings: map[string]string{"medics.replicas": "1"}})
		if err != nil {
			var mistakes Errors
			bad := func(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) }
			if !errors.As(err, &mistakes) || !strings.ContainsFunc(dir, bad) && len(dir) < maxFile/8 {
				t.Fatalf("%q is refused: %v", dir, err)
			}
			return
		}
		if dir == "" {
			return // the default
		}
		tp := parse(t, text)
		if tp.Data() != dir {
			t.Fatalf("%q is read as %q", dir, tp.Data())
		}
		files, err := tp.Systemd(Systemd{}, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []string{"joiner-1", "medic-1"} {
			checkUnit(t, find(t, files, "local/etc/systemd/system/posta-posta-"+n+".service"), n, tp.installedData())
		}
		one, err := tp.Compose(Compose{Image: dir, File: "t.toml"})
		if err != nil {
			t.Fatal(err)
		}
		checkCompose(t, one, dir, tp.containerData())
		many, err := tp.ComposeHosts(Compose{}, text)
		if err != nil {
			t.Fatal(err)
		}
		checkCompose(t, find(t, many, "local/docker-compose.yaml"), "posta", tp.containerData())
	})
}

// checkUnit reads a unit as systemd does: lines of NAME=VALUE, words with quotes, %% for a percent sign.
func checkUnit(t *testing.T, unit, node, data string) {
	t.Helper()
	dirs := map[string][]string{}
	for _, line := range strings.FieldsFunc(unit, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }) {
		if strings.HasSuffix(line, `\`) {
			t.Fatalf("this line continues in the next: %q", line)
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || !slices.Contains(unitKeys, key) {
			t.Fatalf("what is %q in\n%s", line, unit)
		}
		switch key {
		case "ExecStart":
			if words := unitWords(t, value, true); len(words) < 5 || words[0] != "/usr/local/bin/posta" || words[2] != node ||
				slices.Contains(words, "") {
				t.Fatalf("ExecStart is %q", words)
			}
		case "ExecStartPre":
			words := unitWords(t, value, true)
			if words[0] != "+/usr/bin/install" || len(words) != 5 && len(words) != 9 {
				t.Fatalf("ExecStartPre is %q", words)
			}
			dirs[key] = append(dirs[key], words[len(words)-1])
		case "ReadWritePaths":
			dirs[key] = append(dirs[key], strings.TrimPrefix(unitWords(t, value, false)[0], "-"))
		case "StateDirectory":
			for _, word := range unitWords(t, value, false) {
				if strings.Contains(word, ":") {
					t.Fatalf("some versions of systemd take what is behind the colon of %q for a link", word)
				}
				dirs[key] = append(dirs[key], "/var/lib/"+word)
			}
		}
	}
	want := []string{path.Join(data, node)}
	if strings.HasPrefix(node, "medic") {
		want = append(want, path.Join(data, fenceVolume))
	}
	if state := dirs["StateDirectory"]; !slices.Equal(state, want) &&
		(len(state) > 0 || !slices.Equal(dirs["ExecStartPre"], want) || !slices.Equal(dirs["ReadWritePaths"], want)) {
		t.Fatalf("the directories of %s are %q, want %q in\n%s", node, dirs, want, unit)
	}
}

// unitKeys are the settings that a unit has for a plain directory.
var unitKeys = strings.Fields(
	`Description Wants After PartOf StartLimitIntervalSec Type ExecStart ExecStartPre Restart RestartSec User WorkingDirectory
	StateDirectory StateDirectoryMode ReadWritePaths TimeoutStopSec LimitNOFILE UMask NoNewPrivileges ProtectSystem ProtectHome PrivateTmp PrivateDevices
	ProtectClock ProtectHostname ProtectControlGroups ProtectKernelLogs ProtectKernelModules ProtectKernelTunables LockPersonality
	MemoryDenyWriteExecute RestrictNamespaces RestrictRealtime RestrictSUIDSGID SystemCallArchitectures SystemCallFilter RestrictAddressFamilies
	CapabilityBoundingSet WantedBy`)

// unitWords splits a value as systemd.syntax(7) says, and puts in place of %% and, in a command, $$ what they stand for.
func unitWords(t *testing.T, value string, command bool) (words []string) {
	t.Helper()
	var word strings.Builder
	quote, there := rune(0), false
	runes := []rune(value)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		next := func() rune {
			if i++; i >= len(runes) {
				t.Fatalf("%q ends in the middle of an escape", value)
			}
			return runes[i]
		}
		switch {
		case r == '\\':
			c := next()
			if c != '\\' && c != '"' && c != '\'' { // what systemd makes of others depends on the setting
				t.Fatalf("%q holds \\%c", value, c)
			}
			word.WriteRune(c)
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, there = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if there {
				words = append(words, word.String())
			}
			word.Reset()
			there = false
			continue
		case r == '%', r == '$' && command:
			if c := next(); c != r {
				t.Fatalf("%q holds %c%c, which stands for something else", value, r, c)
			}
			word.WriteRune(r)
		default:
			word.WriteRune(r)
		}
		there = true
	}
	if quote != 0 {
		t.Fatalf("the quotes of %q are not closed", value)
	}
	if there {
		words = append(words, word.String())
	}
	return words
}

var yamlLine = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// checkCompose reads a compose file as YAML 1.1 does, which ends lines at more characters than others: beside quoted scalars it has nothing
// but what the template has. $ begins a variable.
func checkCompose(t *testing.T, text, image, data string) {
	t.Helper()
	volumes := 0
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u0085\u2028\u2029", r) }) {
		values := yamlLine.FindAllString(line, -1)
		for i, v := range values {
			values[i] = yamlValue(t, v)
		}
		rest := yamlLine.ReplaceAllString(line, "Q")
		switch key := strings.TrimSpace(rest); {
		case strings.HasPrefix(key, "#"):
		case key == "image: Q":
			if values[0] != image {
				t.Fatalf("image %q, want %q", values[0], image)
			}
		case strings.HasPrefix(key, "- {type: volume, source: ") && strings.HasSuffix(key, ", target: Q}"):
			name := strings.TrimSuffix(strings.TrimPrefix(key, "- {type: volume, source: "), ", target: Q}")
			if values[0] != path.Join(data, name) {
				t.Fatalf("%s is mounted at %q, want it in %q", name, values[0], data)
			}
			volumes++
		case !composeLine.MatchString(rest):
			t.Fatalf("what is %q in\n%s", line, text)
		}
	}
	if volumes != 9 { // seven nodes, a medic, its fence
		t.Fatalf("%d volumes in\n%s", volumes, text)
	}
}

// composeLine is any other line, where Q stands for a quoted scalar. It has none of what a directory could add.
var composeLine = regexp.MustCompile(
	`^ *(- )?([a-z0-9_.-]+|x-[a-z]+|<<): ?(&[a-z]+|\*[a-z]+|Q|[a-z0-9._-]+|\[[A-Za-z0-9 ,_/Q-]*\]|\{\}|\{max-size: Q, max-file: Q\}|\$\{POSTA_MEMORY:-1g\})?$|^ *- (Q|[a-z0-9-]+|\{type: bind, source: Q, target: /posta/topology.toml, read_only: true\}|\{type: volume, source: [a-z0-9-]+, target: /own/[0-9]+\})$`)

// yamlValue decodes a double-quoted scalar, and compose's $$ in it.
func yamlValue(t *testing.T, quoted string) string {
	t.Helper()
	if quoted == `"${DOCKER_SOCK:-/var/run/docker.sock}:/var/run/docker.sock"` {
		return ""
	}
	s, err := strconv.Unquote(quoted) // of its escapes only \", \\, \u and \U are used, and these are YAML's
	if err != nil || strings.ContainsFunc(quoted, func(r rune) bool { return !unicode.IsPrint(r) }) {
		t.Fatalf("%q is not a scalar: %v", quoted, err)
	}
	if strings.Contains(strings.ReplaceAll(s, "$$", ""), "$") {
		t.Fatalf("%q holds a variable", quoted)
	}
	return strings.ReplaceAll(s, "$$", "$")
}
