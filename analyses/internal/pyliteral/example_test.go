package pyliteral_test

import (
	"fmt"

	"posta.dev/posta/analyses/internal/pyliteral"
)

func Example() {
	var r pyliteral.Reader
	r.Reset([]byte(`[{'id': 16, 'name': "D'Arcy", 'path': None}, {'id': 35, 'name': 'Zo\xeb'}]`))
	if !r.List() {
		fmt.Println("no list")
	}
	for r.Next() {
		if !r.Dict() {
			fmt.Println("no dict")
		}
		for r.NextKey() {
			if string(r.Key()) != "name" {
				continue // the value is skipped
			}
			if name, ok := r.Text(); ok {
				fmt.Printf("%s\n", name)
			}
		}
	}
	fmt.Println(r.End())

	r.Reset([]byte(`[{'id': 16 'name': 1}]`))
	fmt.Println(r.End())
	// Output:
	// D'Arcy
	// Zoë
	// <nil>
	// no Python literal: expected , or } at offset 11
}
