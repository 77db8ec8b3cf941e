package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the SBOM. Its components are the modules that the linker has put into the program, as the program itself reports them: go.mod
// also names modules that only tests need.
func (r *release) bill(program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return fmt.Errorf("what is in %s: %w", program, err)
	}
	b := cyclonedx.NewBOM()
	b.Metadata = &cyclonedx.Metadata{
		Timestamp: r.made.Format(time.RFC3339),
		Component: &cyclonedx.Component{
			BOMRef: "pkg:golang/posta.dev/posta@" + r.version, Type: cyclonedx.ComponentTypeApplication, Name: "posta", Version: r.version,
			PackageURL: "pkg:golang/posta.dev/posta@" + r.version,
			Licenses:   &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		},
	}
	parts := []cyclonedx.Component{{
		BOMRef: "pkg:golang/std@" + info.GoVersion, Type: cyclonedx.ComponentTypeLibrary, Name: "std", Version: info.GoVersion,
		PackageURL: "pkg:golang/std@" + info.GoVersion,
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		url := "pkg:golang/" + m.Path + "@" + m.Version
		parts = append(parts, cyclonedx.Component{
			BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url,
			Properties: &[]cyclonedx.Property{{Name: "go.sum", Value: m.Sum}},
		})
	}
	b.Components = &parts
	f, err := os.Create(filepath.Join(r.out, "posta_"+r.number()+".cdx.json"))
	if err != nil {
		return err
	}
	if err := cyclonedx.NewBOMEncoder(f, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(b); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
