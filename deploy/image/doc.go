// Package image builds a container image of a static program, in the format of `docker load`. It needs no Docker, and the same program
// always gives the same image with the same name.
//
//	posta:sha-1f0c2a9b77de.tar
//	├── 1f0c…json      the image's configuration; its digest is the image's
//	├── layer.tar      bin/posta, and the empty directory posta/
//	└── manifest.json  which names both
package image
