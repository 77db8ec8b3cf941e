// Package deploy has posta deploy and posta undeploy: what they read, which steps they show and take, and the files that posta deploy
// --render writes. How a plan is made and carried out is in the packages below posta.dev/posta/deploy.
//
//	deploy.go    the commands and their flags
//	engines.go   the Docker Engines of the hosts, and what they have
//	lock.go      one deploy at a time
//	run.go       the commands' work
//	keys.go      the keys that go along
//	progress.go  what is shown meanwhile
//	render.go    files for hosts without Docker
package deploy
