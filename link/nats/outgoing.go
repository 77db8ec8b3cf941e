package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"posta.dev/posta/link/internal/brokered"
)

const (
	// maxUnconfirmed is how many messages may be unconfirmed. With few, each one waits for the one before; the window bounds their bytes.
	maxUnconfirmed = 512
	confirmTime    = time.Minute      // for the server to confirm a message
	setupTime      = 10 * time.Second // to create a stream or a consumer
)

// stream creates the stream of a subject, or changes it to the present limits. Both ends do so. A correct stream is not touched: otherwise
// the server would write a change at each reconnection, and NATS 2.12 reads the settings of some streams without a lock while it changes
// others.
//
// The sender replaces a stream that was created differently and cannot be changed: its frames are still in the sender's outbox.
func (t *Transport) stream(ctx context.Context, js jetstream.JetStream, subject string, sender bool) error {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	want := t.streamConfig(subject)
	is, err := js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		is, err = js.CreateStream(ctx, want)
	}
	if err == nil && !fits(&is.CachedInfo().Config, &want) || errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		_, err = js.UpdateStream(ctx, want)
		var refused jetstream.JetStreamError
		if errors.As(err, &refused) {
			err = fmt.Errorf("%w: %w", errOtherwise, err)
			if sender {
				err = t.replace(ctx, js, want, err)
			}
		}
	}
	if err != nil {
		return fmt.Errorf("make stream %s: %w", want.Name, err)
	}
	return nil
}

// streamConfig returns the desired configuration of a stream; the server fills in the rest.
func (t *Transport) streamConfig(subject string) jetstream.StreamConfig {
	l := t.Config.Topology.Limits
	return jetstream.StreamConfig{
		Name: streamOf(subject), Subjects: []string{subject}, Storage: jetstream.FileStorage,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardOld, MaxBytes: 2 * (int64(l.Window) + int64(l.Frame)), MaxMsgSize: -1,
		MaxMsgs: -1, MaxMsgsPerSubject: -1, MaxConsumers: -1,
	}
}

// replace deletes a stream that cannot be changed and creates a correct one. why is the reason, for the log.
func (t *Transport) replace(ctx context.Context, js jetstream.JetStream, want jetstream.StreamConfig, why error) error {
	t.Config.Log.Warn("a stream is deleted and made again; nothing is lost", "stream", want.Name, "err", why)
	err := js.DeleteStream(ctx, want.Name)
	if err == nil || errors.Is(err, jetstream.ErrStreamNotFound) {
		_, err = js.CreateStream(ctx, want)
	}
	return err
}

// cannotStore reports whether the server could not write a message to its disk. If its directory was removed while it runs, it continues
// and refuses every message of that stream for ever.
func cannotStore(err error) bool {
	var refused *jetstream.APIError
	return errors.As(err, &refused) && refused.ErrorCode == storeFailed
}

const storeFailed = 10077 // JSStreamStoreFailedF

// renew deletes and creates a stream into which the server cannot write, and returns why, the reason. A server with a full disk refuses
// with the same error. Nothing is lost then either, because the frames are still in this node's outbox.
func (t *Transport) renew(ctx context.Context, js jetstream.JetStream, subject string, why error) error {
	ctx, cancel := context.WithTimeout(ctx, setupTime)
	defer cancel()
	why = fmt.Errorf("%w: %w", errStore, why)
	if err := t.replace(ctx, js, t.streamConfig(subject), why); err != nil {
		return fmt.Errorf("%w; and its stream cannot be made again: %w", why, err)
	}
	return why
}

// fits compares the settings that stream sets; the server fills in the rest.
func fits(is, want *jetstream.StreamConfig) bool {
	return slices.Equal(is.Subjects, want.Subjects) && is.Storage == want.Storage && is.Retention == want.Retention &&
		is.Discard == want.Discard && is.MaxBytes == want.MaxBytes && is.MaxMsgSize == want.MaxMsgSize &&
		is.MaxMsgs < 1 && is.MaxMsgsPerSubject < 1 && is.MaxConsumers < 1 && is.MaxAge == 0 &&
		!is.NoAck && !is.Sealed && !is.DiscardNewPerSubject && is.Mirror == nil && len(is.Sources) == 0 && is.SubjectTransform == nil
}

// advise adds to an error of JetStream what to do about it.
func advise(err error) error {
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount),
		errors.Is(err, nats.ErrNoResponders):
		return fmt.Errorf("%w: switch JetStream on: write jetstream {} into the server's file", err)
	case errors.Is(err, errOtherwise):
		return fmt.Errorf(
			"%w: its sender makes it again; if this is said again and again, delete it (nats stream rm), or let the cluster's user do so", err)
	case errors.Is(err, errStore):
		return fmt.Errorf("%w: look whether the server's directory is there and its disk has room; the stream is made again, and the link "+
			"sends again what is missing", err)
	case errors.Is(err, errLost):
		return fmt.Errorf("%w: the link finds out what is missing and sends it again", err)
	}
	return err
}

// send is a session: it publishes the frames of a link until an error. Unconfirmed frames then count as lost: the next session reports
// Connected, and the link finds out what is missing (R7).
func (t *Transport) send(ctx context.Context, js jetstream.JetStream, o *brokered.Outgoing) error {
	if err := t.stream(ctx, js, t.subjectTo(o), true); err != nil {
		return err
	}
	t.Begin(o)
	defer o.End()
	var unconfirmed []jetstream.PubAckFuture
	for {
		wake := o.Wake()
		if len(unconfirmed) >= maxUnconfirmed {
			wake = nil
		}
		var ok <-chan *jetstream.PubAck
		var failed <-chan error
		if len(unconfirmed) > 0 {
			ok, failed = unconfirmed[0].Ok(), unconfirmed[0].Err()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ok:
			unconfirmed = unconfirmed[1:]
		case err := <-failed:
			if cannotStore(err) {
				return t.renew(ctx, js, t.subjectTo(o), err)
			}
			return fmt.Errorf("%w: %w", errLost, err)
		case <-wake:
			more, err := t.publish(js, o, maxUnconfirmed-len(unconfirmed))
			unconfirmed = append(unconfirmed, more...)
			if err != nil {
				return err
			}
		}
	}
}

// publish sends some of the waiting messages to the server. It returns those to be confirmed.
func (t *Transport) publish(js jetstream.JetStream, o *brokered.Outgoing, most int) (sent []jetstream.PubAckFuture, err error) {
	for range most {
		frames := o.Next(int(t.Config.Topology.NATS.Batch))
		if frames == nil {
			return sent, nil
		}
		f, err := js.PublishMsgAsync(&nats.Msg{Subject: t.subjectTo(o), Data: brokered.Pack(frames)})
		if err != nil {
			return sent, fmt.Errorf("%w: %w", errLost, err)
		}
		sent = append(sent, f)
	}
	o.Signal()
	return sent, nil
}
