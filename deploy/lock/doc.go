// Package lock lets one posta deploy or undeploy at a time change a cluster.
//
// The lock is on every engine of the cluster, so that two programs on different machines find each other. On one engine it is a row of
// volumes, because an engine creates a volume of a name only once, for whichever client is first, and keeps its labels. Such a volume is a
// claim:
//
//	CLUSTER-deploy-lock-7    posta.lock=CLUSTER, number 7, and the holder: a random token, words for people, its process
//
// The claim with the highest number is valid. Its holder renews claim 7 by making claim 8 and removing claim 7. A holder that finds claim 8
// already made by another token has lost the lock. So a renewal and a takeover are the same step, and one of the two always fails:
//
//	take      no claim: make claim 1. Claims of other holders: refuse, or if all of them are dead take over by making the next number.
//	          Then list all claims. A new one of another holder means that two began at the same moment: remove the own claim, refuse.
//	renew     every Terms.Renew. If it fails for Terms.Lease, the lock is lost: somebody may take it over.
//	release   remove the own claims.
//
// The lock of a dead holder is taken over: at once if its process was on this machine and is gone; else when its claim is older than
// Terms.Lease by the engine's clock and has not changed while it was watched for Terms.Watch (M10: no clock alone decides). The lock of a
// holder whose process lives on this machine is never taken over.
package lock
