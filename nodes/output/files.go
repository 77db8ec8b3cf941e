package output

import "posta.dev/posta/nodes/role"

// Unsaved implements role.Filer.
func (o *Output) Unsaved() (files []role.File) {
	for _, r := range role.ByID(o.results) {
		for _, f := range r.files {
			if f.data != nil && !f.small {
				files = append(files, role.File{Name: f.name, Parts: [][]byte{f.data}})
			}
		}
	}
	return files
}

// Saved implements role.Filer. It frees the memory of the files.
func (o *Output) Saved(files []role.File) {
	saved := make(map[string]bool, len(files))
	for _, f := range files {
		saved[f.Name] = true
	}
	for _, r := range o.results {
		for _, f := range r.files {
			if saved[f.name] {
				f.data = nil
			}
		}
	}
}

// Dropped implements role.Filer.
func (o *Output) Dropped() []string {
	names := o.dropped
	o.dropped = nil
	return names
}

// Files implements role.Filer.
func (o *Output) Files() (names []string) {
	for _, r := range role.ByID(o.results) {
		for _, f := range r.files {
			if !f.small {
				names = append(names, f.name)
			}
		}
	}
	return names
}
