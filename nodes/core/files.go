package core

import "posta.dev/posta/nodes/role"

// filers calls do for each role that has files.
func (c *Core) filers(do func(role.Filer)) {
	for _, r := range c.cfg.Roles {
		if f, ok := r.(role.Filer); ok {
			do(f)
		}
	}
}

// HasFiles reports whether a role has files at all.
func (c *Core) HasFiles() (has bool) {
	c.filers(func(role.Filer) { has = true })
	return has
}

// Unsaved returns the files that are to be saved.
func (c *Core) Unsaved() (files []role.File) {
	c.filers(func(f role.Filer) { files = append(files, f.Unsaved()...) })
	return files
}

// Saved reports that files are durable.
func (c *Core) Saved(files []role.File) {
	if len(files) > 0 {
		c.filers(func(f role.Filer) { f.Saved(files) })
	}
}

// Dropped returns, once, the files that nobody needs any more after the commit that was sealed last is stored.
func (c *Core) Dropped() (names []string) {
	c.filers(func(f role.Filer) { names = append(names, f.Dropped()...) })
	return names
}

// Files names all files that the state refers to.
func (c *Core) Files() (names []string) {
	c.filers(func(f role.Filer) { names = append(names, f.Files()...) })
	return names
}
