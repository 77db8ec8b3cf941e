package csv_test

import (
	"fmt"
	"io"
	"strings"

	"posta.dev/posta/rows/csv"
)

// The client cuts a stream into chunks, and the parser scans them. With chunks of one byte, each record is a chunk.
func Example() {
	file := "code,name,yearid\n6209,\"Milton, Clark\",2014\n6436\n\n6001,\"the \"\"old\"\" port\",2015"

	cutter := csv.NewCutter(strings.NewReader(file), ',', 1, 1<<20)
	line, err := cutter.Header()
	if err != nil {
		fmt.Println(err)
		return
	}
	header, err := csv.ParseHeader(line, ',')
	if err != nil {
		fmt.Println(err)
		return
	}
	mapping, err := header.Find([]csv.Column{{Name: "yearid"}, {Name: "name"}, {Name: "owner", Optional: true}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var s csv.Scanner
	for {
		chunk, firstLine, err := cutter.Next(nil)
		if err == io.EOF {
			return
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		s.Reset(chunk, ',', mapping, firstLine)
		for s.Next() {
			if err := s.Err(); err != nil {
				fmt.Printf("line %d: %v\n", s.Line(), err)
				continue
			}
			fmt.Printf("line %d: %q\n", s.Line(), s.Fields())
		}
	}
	// Output:
	// line 2: ["2014" "Milton, Clark" ""]
	// line 3: row has 1 field, and the header has 3
	// line 5: ["2015" "the \"old\" port" ""]
}
