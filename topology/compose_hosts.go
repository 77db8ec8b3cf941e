package topology

import (
	"cmp"
	"fmt"
)

// ComposeHosts writes a directory for each host: a compose file for its nodes and medics, the given text of the topology, and instructions
// to start it. Containers use the machine's network, so each node has exactly its address in the topology. A network for the nodes of each
// machine was rejected, because each port would have to be published, and each frame translated.
func (t *Topology) ComposeHosts(c Compose, text string) (files []File, err error) {
	hosts, err := t.machines()
	if err != nil {
		return nil, err
	}
	for _, h := range hosts {
		c.File = "topology.toml"
		compose, err := t.compose(c, h.Name, t.nodesAt(h), t.medicsAt(h))
		if err != nil {
			return nil, err
		}
		project := t.Name + "-" + h.Name
		note, err := fill(composeInstall, installData{
			Cluster: t.Name, Host: h.Name, Address: h.Address, Project: project, Image: cmp.Or(c.Image, "posta"),
			User: NodeUser, Root: MedicUser, Medics: names(t.medicsAt(h)), Keys: keysNote(c.Keys),
		})
		if err != nil {
			return nil, err
		}
		files = append(files,
			File{Name: h.Name + "/docker-compose.yaml", Text: compose},
			File{Name: h.Name + "/.env", Text: fmt.Sprintf("# Both composes read the project's name here.\nCOMPOSE_PROJECT_NAME=%s\n", project)},
			File{Name: h.Name + "/topology.toml", Text: text, Private: t.HasBrokerSecret()},
			File{Name: h.Name + "/INSTALL.md", Text: note})
	}
	return files, nil
}

func keysNote(has bool) string {
	if has {
		return keysDir
	}
	return ""
}

func names(nodes []Node) []string { return texts(nodes, func(n Node) string { return string(n.ID) }) }
