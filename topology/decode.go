package topology

import (
	"fmt"
	"path/filepath"
	"slices"
)

// sections lists the sections that a file may have, as they are written.
var sections = []string{"cluster", "hosts", "stage", "edge", "rabbitmq", "nats", "security", "clients", "data", "medics", "limits"}

// topology fills every field from the tree or from its default.
func (r *reader) topology(root *value) *Topology {
	t := &Topology{}
	r.unknownSections(root)
	r.cluster(t, r.section("cluster", "[cluster]", r.one(root, "cluster")))
	r.hosts(t, r.one(root, "hosts"))
	for i, v := range r.many(root, "stage") {
		t.Stages = append(t.Stages, r.stage(t, r.section(fmt.Sprintf("stage.%d", i), "[[stage]]", v)))
	}
	for i, v := range r.many(root, "edge") {
		t.Edges = append(t.Edges, r.edge(r.section(fmt.Sprintf("edge.%d", i), "[[edge]]", v)))
	}
	r.clients(t, r.one(root, "clients"))
	r.data(t, r.one(root, "data"))
	for _, name := range []string{"rabbitmq", "nats", "security", "medics", "limits"} {
		r.scalars(t, name, r.one(root, name))
	}
	return t
}

func (r *reader) unknownSections(root *value) {
	for _, f := range root.fields {
		near, ok := nearest(f.name, sections)
		switch {
		case f.value.kind == kindTable || f.value.kind == kindTables || f.value.kind == kindArray:
			if isSection(f.name) {
				continue
			}
			instead := "the sections are [cluster], [hosts.NAME], [[stage]], [[edge]], [rabbitmq], [nats], [security], [clients], [data], " +
				"[medics], [limits]"
			if ok {
				instead = "did you mean " + sectionTitle(near) + "?"
			}
			r.found.add(f.at, fmt.Sprintf("there is no section %q", f.name), instead)
		case !isSection(f.name):
			r.found.add(f.at, fmt.Sprintf("%s stands outside every section", bareKey(f.name)), "move it below the [section] it belongs to")
		}
	}
}

func isSection(name string) bool { return slices.Contains(sections, name) }

func sectionTitle(name string) string {
	switch name {
	case "hosts":
		return "[hosts.NAME]"
	case "stage", "edge":
		return "[[" + name + "]]"
	}
	return "[" + name + "]"
}

// one returns the section of that name; nil if it does not exist, or is not a section.
func (r *reader) one(root *value, name string) *value {
	f := root.get(name)
	if f == nil {
		return nil
	}
	r.at[name] = f.value.at
	if f.value.kind != kindTable {
		r.invalid[name] = true
		r.found.add(f.value.at, fmt.Sprintf("%s is %s", name, f.value.kind), "write it as section "+sectionTitle(name))
		return nil
	}
	return f.value
}

// many returns the items of a [[list]]; a list of inline tables is the same.
func (r *reader) many(root *value, name string) []*value {
	f := root.get(name)
	if f == nil {
		return nil
	}
	r.at[name] = f.value.at
	if f.value.kind != kindTables && f.value.kind != kindArray {
		r.invalid[name] = true
		r.found.add(f.value.at, fmt.Sprintf("%s is %s", name, f.value.kind),
			"write each one below its own "+sectionTitle(name)+", with two brackets")
		return nil
	}
	var items []*value
	for _, v := range f.value.items {
		if v.kind == kindTable {
			items = append(items, v)
			continue
		}
		r.invalid[name] = true
		r.found.add(v.at, fmt.Sprintf("%s holds %s", name, v.kind), "write each one below its own "+sectionTitle(name))
	}
	return items
}

func (r *reader) cluster(t *Topology, s *section) {
	t.Name = s.str("name", "posta", "posta")
	t.data = s.str("data", "data", "data")
	s.scalars("cluster", t)
	s.done()
}

func (r *reader) hosts(t *Topology, v *value) {
	if v == nil {
		return
	}
	for _, f := range v.fields {
		title := "[hosts." + bareKey(f.name) + "]"
		if f.value.kind != kindTable {
			r.invalid["hosts"] = true
			r.found.add(f.at, fmt.Sprintf("hosts.%s is %s", bareKey(f.name), f.value.kind),
				"write [hosts.NAME] and below it address = \"127.0.0.1\"")
			continue
		}
		t.Hosts = append(t.Hosts, r.host(f.name, r.section("hosts."+f.name, title, f.value)))
	}
}

func (r *reader) host(name string, s *section) Host {
	h := Host{Name: name, Local: !s.has("address")}
	h.Address = s.str("address", nowhere, "127.0.0.1")
	h.Bind = s.str("bind", "", "0.0.0.0")
	h.settle()
	h.Ports = s.integer("ports", 5500, 1, 65535)
	h.BindPorts = s.integer("bind_ports", h.Ports, 1, 65535)
	h.Roots = s.roots()
	h.Metrics = s.str("metrics", "", metricsExample)
	h.Deploy = r.deploy(s)
	s.done()
	return h
}

func (r *reader) stage(t *Topology, s *section) Stage {
	st := Stage{Name: s.str("name", "", "joiner")}
	st.Chain = chainOf(s.list("chain", words(pipeline), `["input", "parser"]`), st.Name)
	st.Replicas = s.integer("replicas", 1, 1, maxReplicas)
	if len(t.Hosts) == 0 {
		s.find("hosts") // a file without hosts is reported elsewhere, once
	} else {
		st.Hosts = s.list("hosts", hostNames(t), "["+quoteAll(hostNames(t))+"]")
	}
	if st.Hosts == nil {
		st.Hosts = hostNames(t)
	}
	s.done()
	return st
}

// chainOf returns the given chain; without one, the stage's own name if that is a role.
func chainOf(given []string, name string) []Role {
	if given == nil && Role(name).order() >= 0 {
		return []Role{Role(name)}
	}
	chain := make([]Role, len(given))
	for i, w := range given {
		chain[i] = Role(w)
	}
	return chain
}

func (r *reader) edge(s *section) Edge {
	e := Edge{From: s.str("from", "", "input"), To: s.str("to", "", "joiner")}
	e.Streams = Streams(s.word("streams", string(AllStreams), streamsWords))
	e.Socket = Socket(s.word("socket", string(Push), socketWords))
	e.Route = Route(s.word("route", "", routeWords))
	e.Key = Key(s.word("key", "", keyWords))
	s.done()
	return e
}

// scalars reads a section that has only entries of the settings table.
func (r *reader) scalars(t *Topology, name string, v *value) {
	s := r.section(name, "["+name+"]", v)
	s.scalars(name, t)
	s.done()
}

// scalars reads the entries of the settings table that belong to the section, over the defaults.
func (s *section) scalars(name string, t *Topology) {
	for _, set := range settings {
		if set.section != name {
			continue
		}
		if err := set.set(t, set.def); err != nil {
			panic(fmt.Sprintf("topology: default of %s: %v", set.key(), err)) // the table in settings.go is wrong; no file can cause this
		}
		s.scalar(set, t)
	}
}

// resolveData resolves the directories of data and keys against the file's directory.
func (t *Topology) resolveData(dir string) {
	if t.DataDir = t.data; !filepath.IsAbs(t.data) {
		t.DataDir = filepath.Join(dir, t.data)
	}
	if t.KeysDir = t.Security.Keys; !filepath.IsAbs(t.KeysDir) {
		t.KeysDir = filepath.Join(dir, t.KeysDir)
	}
}

func hostNames(t *Topology) []string {
	return texts(t.Hosts, func(h Host) string { return h.Name })
}

func words(roles []Role) []string { return texts(roles, func(r Role) string { return string(r) }) }

// texts returns a text for each item.
func texts[T any](items []T, text func(T) string) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = text(item)
	}
	return all
}
