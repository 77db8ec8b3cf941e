// Oracle prints the right answer of an analysis over the files of a folder: oracle ANALYSIS DIR. Package truth starts it.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"posta.dev/posta/test/e2e/truth"
)

func main() {
	if err := tell(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func tell(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: oracle ANALYSIS DIR")
	}
	a, err := truth.Here(args[0], args[1])
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(a)
}
