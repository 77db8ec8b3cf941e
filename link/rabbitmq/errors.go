package rabbitmq

import (
	"errors"
	"fmt"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"

	"posta.dev/posta/link/internal/brokered"
)

// explain adds to an error what to do about it. queue is the queue concerned, if there is one.
func explain(err error, queue string) error {
	if advice := remedy(err, queue); advice != "" {
		return fmt.Errorf("%w: %s", err, advice)
	}
	return err
}

// remedy returns what to do. RabbitMQ has one code for several causes, and only its text tells them apart; with another text the advice is
// missing or more general.
func remedy(err error, queue string) string {
	var e *amqp.Error
	switch {
	case errors.Is(err, brokered.ErrSameName):
		return brokered.SameNameAdvice
	case errors.As(err, &e) && e.Code == amqp.NotAllowed && strings.Contains(e.Reason, "vhost"):
		return noVhost
	case errors.Is(err, amqp.ErrCredentials), errors.Is(err, amqp.ErrSASL):
		return "correct user and password in the url of [rabbitmq], or make the user with rabbitmqctl add_user"
	case errors.Is(err, amqp.ErrVhost):
		return noVhost
	case errors.Is(err, errNoAnswer):
		return "if it says so again and again, a queue has no leader: see rabbitmqctl list_queues name state leader, and delete it, its " +
			"frames are in the nodes' logs"
	case errors.Is(err, errLost), errors.Is(err, errCancelled):
		return "the link finds out what is missing and sends it again"
	case !errors.As(err, &e):
		return "start the broker, or correct the url of [rabbitmq]"
	}
	switch {
	case otherwise(err):
		return fmt.Sprintf("it was made with other properties, for other limits for instance, and its sender makes it again; if this is said "+
			"again and again, another cluster of the same name uses this broker, or somebody makes %s by hand", queue)
	case e.Code == amqp.PreconditionFailed && strings.Contains(e.Reason, "size"):
		return "raise max_message_size of the broker above limits.frame and above batch of [rabbitmq]"
	case e.Code == amqp.AccessRefused && strings.Contains(e.Reason, "exclusive"):
		return "another process reads this queue: an earlier life of this node, which the broker has not missed yet, or another cluster of " +
			"the same name"
	case e.Code == amqp.AccessRefused:
		return "let the user configure, write and read posta.*: see rabbitmqctl set_permissions"
	case e.Code == amqp.ConnectionForced:
		return "somebody stops the broker"
	}
	return ""
}

const noVhost = "there is no such virtual host, or the user may not enter: see rabbitmqctl add_vhost and set_permissions, or correct " +
	"the url of [rabbitmq]"
