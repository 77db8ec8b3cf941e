package ask

import (
	"context"

	"posta.dev/posta/client"
	"posta.dev/posta/cmd/internal/display"
	"posta.dev/posta/cmd/internal/reach"
	"posta.dev/posta/cmd/internal/run"
	"posta.dev/posta/cmd/internal/upload"
	"posta.dev/posta/security"
	"posta.dev/posta/topology"
)

// promptCluster is the private cluster of a prompt. The first statement that reads a table starts it, and it runs until the prompt ends.
// The goroutine that reads statements uses it. The goroutine that start launches keeps it running.
type promptCluster struct {
	up    chan startedCluster // receives the cluster when it has started
	leave chan struct{}       // closed to end the cluster
	done  chan error          // receives how the cluster ended; nil if none was started
	is    *startedCluster
}

type startedCluster struct {
	topology *topology.Topology
	keys     *security.Keys
}

// nodesFor makes r use the node within this process if its statements are small, and else the cluster. The returned context is for the
// statements; done has to be called after its last use.
func (p *prompt) nodesFor(ctx context.Context, r *sqlRequest) (_ context.Context, done func(), err error) {
	if bytes, known := r.script.Reads(ctx); !known || bytes > p.limit {
		return ctx, func() {}, p.start(ctx, r)
	}
	if p.small != nil && p.small.Ended() {
		p.small, err = nil, p.small.Close(errOver)
	}
	if err == nil && p.small == nil {
		p.small, err = run.Node(p.x, p.shape())
	}
	if err != nil {
		return nil, nil, err
	}
	r.Cfg.Entries, r.Cfg.Ask = p.small.Entries(), p.small.Ask()
	ctx, done = p.small.During(ctx)
	return ctx, done, nil
}

// start waits for the cluster, and makes r use it. A statement that was cancelled may have begun to start the cluster. If a start has
// failed, the next statement tries again.
func (p *prompt) start(ctx context.Context, r *sqlRequest) error {
	k := &p.cluster
	if k.done == nil {
		*k = promptCluster{up: make(chan startedCluster, 1), leave: make(chan struct{}), done: make(chan error, 1)}
		// The goroutine has its own request. It gets the channels as arguments, so it reads nothing of k, which the caller changes. It ends when
		// leave is closed, and stop waits for it.
		go func(up chan<- startedCluster, leave <-chan struct{}, done chan<- error) {
			done <- run.Privately(p.x, p.c, p.shape(), func(ctx context.Context, t *topology.Topology, keys *security.Keys,
				_ *display.Progress) error {
				up <- startedCluster{t, keys}
				select {
				case <-leave:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		}(k.up, k.leave, k.done)
	}
	if k.is == nil {
		select {
		case is := <-k.up:
			k.is = &is
		case err := <-k.done:
			k.done = nil
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	r.Cluster, r.Cfg.Keys = k.is.topology, k.is.keys
	r.Cfg.Entries = reach.EntryPoints(k.is.topology, k.is.keys != nil)
	return nil
}

// shape returns what the cluster needs to know about the data.
func (p *prompt) shape() *upload.Request {
	return &upload.Request{Cfg: client.Config{Dir: p.dir, Named: p.named}, Forks: true}
}

// stop ends the cluster, if there is one.
func (k *promptCluster) stop() error {
	if k.done == nil {
		return nil
	}
	close(k.leave)
	return <-k.done
}
