// Package engine is one host's Docker Engine, as posta deploy needs it: Observe returns its state, and there is one method for each verb of
// a plan. All of them are idempotent, so a call whose answer was lost is simply repeated.
//
// Every call has a deadline. Transfers of images and data have a deadline for each pause and none for the whole, because a slow line still
// works.
//
// Engines are found at unix://, at tcp:// with keys, and at ssh://, through the ssh program and `docker system dial-stdio` on the other
// side, so that the user's ssh configuration applies. The version of the API is negotiated; one below 1.41 (Docker 20.10) is refused.
package engine
