package rundir

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"posta.dev/posta/topology"
)

// runWindow is the window of the links of a private cluster, unless a setting says otherwise. All its nodes share one machine, so
// messages travel fast. With the default window more frames wait for the receivers when the disk is slow, which takes memory and saves no
// time.
const runWindow = "8MiB"

// Own adds the settings with which a cluster for a single program on one machine works better than with the defaults.
func Own(settings map[string]string) {
	given := func(key string) bool { _, is := settings[key]; return is }
	if !given("medics.replicas") {
		settings["medics.replicas"] = "0" // the program itself restarts nodes
	}
	if !given("limits.window") && !given("limits.chunk") { // a window must hold a chunk
		settings["limits.window"] = runWindow
	}
}

// Roots returns the directories of the data: those given, and those of files. The inputs of a private cluster read the files there
// themselves, so no byte of them crosses a socket (S8).
func Roots(dirs, files []string) (roots []string, err error) {
	for _, name := range files {
		if name != "-" && !strings.Contains(name, "://") {
			dirs = append(slices.Clip(dirs), filepath.Dir(name))
		}
	}
	for _, dir := range dirs {
		root, err := filepath.Abs(dir)
		if err != nil {
			return nil, fmt.Errorf("look for the data: %w", err)
		}
		if dir != "" && utf8.ValidString(root) && filepath.Dir(root) != root && !slices.Contains(roots, root) &&
			!strings.ContainsAny(root, "*?[") && len(roots) < topology.MaxRoots {
			roots = append(roots, root)
		}
	}
	return roots, nil
}
