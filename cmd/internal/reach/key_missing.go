package reach

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/call"
	"posta.dev/posta/cmd/internal/exit"
	"posta.dev/posta/security"
)

// keyTime limits how long a command looks for the reason why nothing answers. A shared machine may stop for a second or two; a command that
// gives up then would advise to start a cluster that runs.
const keyTime = 5 * time.Second

// ExplainMissingKey adds to the error of a command without a key that the cluster has keys, if it has. A node with keys closes a plain
// connection without a message, which looks like a missing cluster.
func ExplainMissingKey(x *call.Call, ctx context.Context, err error) error {
	if !errors.Is(err, client.ErrNoCluster) && !errors.Is(err, exit.ErrNothingAnswers) {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, keyTime)
	defer cancel()
	for _, endpoint := range x.Plain.Entries[:min(len(x.Plain.Entries), 8)] {
		if !speaksTLS(ctx, endpoint) {
			continue
		}
		which, looked := "this cluster", ""
		if x.Plain.Cluster != "" {
			which = "cluster " + x.Plain.Cluster
		}
		if x.Plain.Looked != "" {
			looked = ", and there is none in " + x.Plain.Looked
		}
		return fmt.Errorf("%w; %s runs at %s and lets in only clients that have a key%s: ask the operator for one (posta key new NAME --role "+
			"submit), and name its directory with --%s DIR or POSTA_KEY",
			lockedOut(err), which, endpoint, looked, call.FlagKey)
	}
	return err
}

// lockedOut reduces an error that advises to start a cluster to the part that determines the exit code.
func lockedOut(err error) error {
	if errors.Is(err, client.ErrNoCluster) {
		return client.ErrNoCluster
	}
	return exit.ErrNothingAnswers
}

// speaksTLS reports whether the process at an endpoint for clients completes the TLS handshake of a cluster with keys. It checks no
// certificate, and sends nothing after the handshake.
func speaksTLS(ctx context.Context, endpoint string) bool {
	address, ok := strings.CutPrefix(endpoint, "tcp://")
	if !ok {
		return false
	}
	_, address, named := strings.Cut(address, "@")
	if !named {
		address = strings.TrimPrefix(endpoint, "tcp://")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	t := tls.Client(conn, &tls.Config{MinVersion: tls.VersionTLS13, NextProtos: []string{security.ClientAPI.Protocol()},
		InsecureSkipVerify: true})
	return t.HandshakeContext(ctx) == nil && t.ConnectionState().NegotiatedProtocol == security.ClientAPI.Protocol()
}
