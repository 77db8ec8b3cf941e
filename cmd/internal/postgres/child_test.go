package postgres

import (
	"context"
	"fmt"
	"os"

	"posta.dev/posta/client"
	"posta.dev/posta/protocol"
	"posta.dev/posta/protocol/session"
)

// childURL is set in a child process of the tests, which writes the large answer to that URL.
const childURL = "POSTA_TEST_POSTGRES"

func child() {
	url := os.Getenv(childURL)
	if url == "" {
		return
	}
	target, err := Parse(url)
	if err == nil {
		_, err = target.Write(context.Background(), large())
	}
	fmt.Println(err)
	os.Exit(1)
}

const largeRows = 1_000_000

// large returns an answer that takes a while to write.
func large() *client.Answer {
	const block = 10_000
	rows := protocol.NewRows(2)
	for i := range int64(block) {
		if err := rows.Add(protocol.Value{Kind: protocol.Int, Int: i}, protocol.Value{
			Text: "a text of some length, so that there is something to write"}); err != nil {
			panic(err)
		}
	}
	all := make([]protocol.Rows, largeRows/block)
	for i := range all {
		all[i] = rows
	}
	return &client.Answer{Analysis: "large", Session: session.ID{7: 7},
		Queries: []client.Table{client.NewTable("q", []string{"n", "text"}, all...)}}
}
