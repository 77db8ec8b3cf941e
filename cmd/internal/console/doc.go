// Package console shows a running cluster in a browser.
//
//	Seen        what was heard of the cluster (pure, like all of the model: time comes in)
//	view        one page of it: overview, sessions, a node, a session. Its parts are HTML that the server makes, so it is readable without
//	            JavaScript
//	graph       the pipeline as a picture
//	timeline    the last 10 minutes as a picture and a table
//	feed        looks at the cluster once a second while somebody watches, and gives each watcher the newest parts of its page
//	login       one-time links, and the cookies that they are exchanged for
//	Server      net/http around them: which requests are answered, and how long each may take
//
// The loop is the feed's: look, draw each watched page once, and hand it to its watchers. A watcher that does not read in time gets the
// newest parts when it reads again. No older parts are kept for it.
//
// The console asks nodes only for the list of sessions, for answers, and for what a user does on its pages. It holds nothing that a cluster
// needs (V3). The page loads nothing from elsewhere (V4).
package console
