// Package topology reads the file that describes a whole Posta system: which hosts there are, which stages run where and with how many
// replicas, which edges connect them with which socket and routing, and the limits that all nodes keep.
//
// # Words
//
// A host is a machine with an address. A stage is a sequence of roles (its chain) that run in one process. A node is one replica of a
// stage. An edge makes one stage feed another. An endpoint is an address that one socket of a node listens on (Bind) and others dial
// (Dial). The two differ if a proxy or a NAT is in between.
//
// # From text to nodes
//
//	source ─parseTree→ values with positions ─decode→ Topology with defaults ─check→ Topology that can run
//	                                                                            └──→ Errors, all of them, by line
//	Topology ─Nodes→ placement, ports, data directories ─→ Text, SVG, Show
//
// Each layer reports what it finds and continues, so a file with five mistakes needs one round and not five. A setting that could not be
// read takes its default for the rest of the check, and a name that could not be read takes part in no check. So no error is only the
// consequence of another one.
//
// Everything is derived: a Topology contains no ports and no nodes, and Nodes computes them. So two processes that read the same file agree
// on every address without talking to each other.
//
// # What it never does
//
// It opens no socket, resolves no name, starts nothing and reads no clock. Parse is a function of its arguments; Load
// adds reading the file.
package topology
