package rabbitmq

import "posta.dev/posta/link"

// Everything of a cluster begins with posta.NAME, so that people find it and can delete it.

func queueOf(cluster, edge string, from, to link.NodeID) string {
	return exchangeOf(cluster, edge, from) + "." + string(to)
}

func exchangeOf(cluster, edge string, from link.NodeID) string {
	return "posta." + cluster + "." + edge + "." + string(from)
}

func acksOf(cluster string) string { return "posta." + cluster + ".acks" }
