// Package docker is the medic.Restarter for containers: it kills and starts them over the Docker Engine's API (design §9, M9).
//
// Containers are found only by their labels, because each version of Compose names them differently:
//
//	posta.cluster  the cluster's name in the topology
//	posta.node     the node or medic
//
// This package never creates or removes a container: package deploy decides its image, volumes and limits.
//
// Problems with an engine, and how the package handles them:
//
//	a call hangs              each call has a deadline of its own, shorter than the caller's
//	a call fails, but was     after each call without an answer the container is inspected, and only what is missing is
//	carried out               done again; the engine may also act seconds late, and no client can prevent that
//	a paused container        it is unpaused first
//	gets no signal
//	a container without its   before a start it is connected to its network again, under the name that others dial: a node that nobody
//	network starts well       can hear would be restarted for ever
//	the API changes           the version is negotiated; one below 1.41 (Docker 20.10) is refused with an error that says so
//
// A restart (M5) is Kill and then Start. The engine's own "restart" is not used: it sends SIGTERM and waits, and after a timeout nobody
// knows which half was done.
//
// In addition a Restarter may Watch: the engine's events report at once when a container ends, which shortens suspicions (package agent).
// If an event is lost, silence is detected as usual.
package docker
