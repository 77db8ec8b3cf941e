// Package engine is one host's Docker Engine, as posta deploy needs it: what there is (Observe), and one method for each thing that a step
// of a plan does. Each can be done again, and what is done already is no error; so a lost answer costs nothing.
//
// Every call has a deadline. Images and data have none for the whole, but one for each pause: a slow line is no dead one.
//
// Engines are found at unix://, at tcp:// with keys, and at ssh://, through the ssh program and `docker system dial-stdio` on the other
// side, so that what people have set up for ssh counts. The version of the API is agreed on; one below 1.41 (Docker 20.10) is refused.
package engine
