package lastlog

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// In returns a logger that writes what log writes, and also keeps lines of level info and above in the returned ring. A logger that In has
// made is returned as it is, with its ring.
func In(log *slog.Logger) (*slog.Logger, *Ring) {
	if h, ok := log.Handler().(*handler); ok {
		return log, h.ring
	}
	ring := NewRing(time.Now)
	kept := slog.NewTextHandler(ring, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{} // the ring has its own clock
		}
		return a
	}})
	return slog.New(&handler{ring, log.Handler(), kept}), ring
}

// handler passes each record to two handlers: the log's own, and that of the ring.
type handler struct {
	ring      *Ring
	log, kept slog.Handler
}

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.log.Enabled(ctx, level) || h.kept.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) (err error) {
	if h.log.Enabled(ctx, r.Level) {
		err = h.log.Handle(ctx, r)
	}
	if h.kept.Enabled(ctx, r.Level) {
		err = errors.Join(err, h.kept.Handle(ctx, r))
	}
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return &handler{h.ring, h.log.WithAttrs(attrs), h.kept.WithAttrs(attrs)}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{h.ring, h.log.WithGroup(name), h.kept.WithGroup(name)}
}
