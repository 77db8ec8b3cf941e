// Package docker is the medic.Restarter for containers: it kills and starts them over the Docker Engine's API (design §9, M9).
//
// Containers are found by their labels and by nothing else, because each version of Compose names them in its own way:
//
//	posta.cluster  the cluster's name in the topology
//	posta.node     the node or medic
//
// A container is never made or removed here: its image, volumes and limits are decided elsewhere, and so it is made again elsewhere if it is gone.
//
// What the engine does to its clients, and what is done about it:
//
//	a call hangs              each has a deadline of its own, below the caller's
//	a call fails, and was     after each call without an answer the container is looked at, and only what is still to be done is
//	carried out all the same  done again; an answer that was late by seconds can still act later, which no client can prevent
//	a paused one takes no     it goes on first
//	signal
//	a container without its   before a start it is put back into its network, under the name that the others dial: a node that nobody
//	network starts well       can hear would be restarted for ever
//	the API changes           the version is agreed on, and one below 1.41 (Docker 20.10) is refused in words
//
// A restart (M5) is Kill and then Start. The engine's own "restart" is not used: it asks first and waits, and nobody can tell after a timeout
// which half of it was done.
//
// Beside that a Restarter may Watch: the engine tells of ends as they happen, which shortens suspicions (package agent). What it
// does not tell, silence does.
package docker
