package client_test

import (
	"context"
	"fmt"
	"log"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
)

// Example is a session from the first request to the last row. The cluster is a fake of two nodes that counts what it receives. For a real
// cluster, Entries are the endpoints of its inputs, as `posta topology show` prints them.
func ExampleRun() {
	entry, stop := client.StartFakeCluster()
	defer stop()

	answer, err := client.Run(context.Background(), client.Config{
		Entries:  []string{entry},
		Analysis: "bikes",
		Dir:      "testdata/bikes",
		OnRows: func(query string, _ []string, rows protocol.Rows, last bool) error { // rows arrive one part at a time
			if query == "counts" {
				fmt.Println(rows.Len(), "rows of", query, "last:", last)
			}
			return nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	counts := answer.Query("counts")
	fmt.Println(counts.Columns)
	for row := range counts.All() {
		fmt.Println(row)
	}
	// Output:
	// 2 rows of counts last: true
	// [stream records]
	// [stations 2]
	// [trips 3]
}
