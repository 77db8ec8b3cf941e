// Command report writes the page and the picture of a soak from its record, which may still be growing.
//
//	go run ./test/e2e/soak/report -page docs/measurements/soak.md -picture docs/measurements/soak.svg soak.jsonl
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"posta.dev/posta/test/e2e/soak"
)

func main() {
	page := flag.String("page", "soak.md", "the `FILE` for the page")
	picture := flag.String("picture", "soak.svg", "the `FILE` for the picture, beside the page")
	note := flag.String("note", "", "a `TEXT` for the page: what happened beside the run")
	flag.Parse()
	if err := report(*page, *picture, *note, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "report:", err)
		os.Exit(1)
	}
}

func report(page, picture, note string, records []string) error {
	if len(records) != 1 {
		return errors.New("name one record, the file of -soak-into")
	}
	f, err := os.Open(records[0])
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	all, err := soak.Read(f)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("%s has no samples yet; wait for the first one", records[0])
	}
	r := soak.Evaluate(all)
	r.Note = note
	text, err := r.Page(filepath.Base(picture))
	if err != nil {
		return err
	}
	if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
		return err
	}
	return os.WriteFile(picture, []byte(r.Picture()), 0o644)
}
