package cmd

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"testing"

	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/test/await"
	"posta.dev/posta/topology"
)

// TestPagesOutliveTheCluster: a console and a posta status --watch that were started before posta down show the nodes again after the next
// posta up. They used to show "0 of 7 nodes" for ever, because the sockets were made in another directory.
func TestPagesOutliveTheCluster(t *testing.T) {
	k := newTestCluster(t)
	k.write(topology.Variant{Settings: map[string]string{"medics.replicas": "1"}})
	k.must("up")
	begin := func(args ...string) (out *await.Log) {
		ctx, interrupt := context.WithCancelCause(context.Background())
		out = &await.Log{}
		ended := make(chan int, 1)
		go func() {
			ended <- runWithin(ctx, context.Background(), program(), append([]string{"posta"}, append(args, "-f", k.file)...),
				Console{In: strings.NewReader(""), Out: out, Err: io.Discard})
		}()
		t.Cleanup(func() {
			interrupt(exit.ErrInterrupted)
			<-ended
		})
		return out
	}
	watch, link := begin("status", "--watch"), begin("console", "--listen", "127.0.0.1:0")
	await.Until(t, "the console prints a link", func() bool { return strings.HasSuffix(link.String(), "\n") })
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	browser := &http.Client{Jar: jar, Transport: transport}
	base, _, _ := strings.Cut(strings.TrimSpace(link.String()), "/login")
	visit(t, browser, strings.TrimSpace(link.String()))
	show := func(want string) func() bool {
		return func() bool {
			all := watch.String()
			last := strings.LastIndex(all, " nodes up\n")
			return last >= 0 && strings.HasSuffix(all[:last], want+" of 7") &&
				strings.Contains(visit(t, browser, base+"/"), want+" of 7 nodes at work")
		}
	}
	await.Until(t, "both show all nodes", show("7"))
	for range 2 {
		k.must("down")
		await.Until(t, "both show no node", show("0"))
		k.must("up")
		await.Until(t, "both show all nodes again", show("7"))
	}
}
