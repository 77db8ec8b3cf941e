package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"

	"github.com/docker/docker/api/types/container"

	"posta.dev/posta/internal/owned"
	"posta.dev/posta/medic"
)

// Leave puts a file into a directory of the node's container, which need not run. So a medic that does not mount the node's volume can
// leave a note before the node starts. The directory must be in a volume, because the root of the containers is read-only.
func (r *Restarter) Leave(ctx context.Context, node medic.NodeID, dir, name string, data []byte) error {
	c, err := r.look(ctx, node)
	if err != nil {
		return fmt.Errorf("leave %s for %s: %w", name, node, err)
	}
	h := tar.Header{Name: name, Mode: int64(owned.FileMode), Size: int64(len(data))}
	if n, _ := fmt.Sscanf(c.Config.User, "%d:%d", &h.Uid, &h.Gid); n != 2 {
		h.Uid, h.Gid = 0, 0 // a container of root
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&h); err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.engine.do(ctx, fmt.Sprintf("leave %s for %s", name, node), func(ctx context.Context) error {
		return r.engine.api.CopyToContainer(ctx, c.ID, dir, bytes.NewReader(archive.Bytes()), container.CopyToContainerOptions{})
	})
}
