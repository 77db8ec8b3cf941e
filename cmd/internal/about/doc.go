// Package about has the commands that say what this program is and has: posta analyses, posta version, and posta gen, which makes data
// without a cluster.
package about
