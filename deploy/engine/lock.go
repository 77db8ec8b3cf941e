package engine

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/volume"

	"posta.dev/posta/deploy/lock"
)

// Labels of a claim, see package lock. A claim has no topology.LabelCluster, so it does not count as the cluster's data.
const (
	labelLock    = "posta.lock" // the cluster
	labelNumber  = "posta.lock.number"
	labelToken   = "posta.lock.token"
	labelHolder  = "posta.lock.holder"
	labelProcess = "posta.lock.process"
)

func claimName(cluster string, number int) string {
	return fmt.Sprintf("%s-deploy-lock-%d", cluster, number)
}

// Claims implements lock.Store.
func (e *Engine) Claims(ctx context.Context, cluster string) (claims []lock.Claim, err error) {
	err = e.call(ctx, "look for the lock of cluster "+cluster, func(ctx context.Context) error {
		all, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: withLabel(labelLock, cluster)})
		if err != nil || len(all.Volumes) == 0 {
			return err
		}
		i, err := e.api.Info(ctx)
		if err != nil {
			return err
		}
		now, err := time.Parse(time.RFC3339Nano, i.SystemTime)
		if err != nil {
			return fmt.Errorf("its clock says %q: %w", i.SystemTime, err)
		}
		for _, v := range all.Volumes {
			if c, ok := claimOf(v, cluster, now); ok {
				claims = append(claims, c)
			}
		}
		return nil
	})
	return claims, err
}

// claimOf reads a claim; ok is false if the volume is not a claim.
func claimOf(v *volume.Volume, cluster string, now time.Time) (c lock.Claim, ok bool) {
	number, err := strconv.Atoi(v.Labels[labelNumber])
	if err != nil || v.Name != claimName(cluster, number) {
		return c, false
	}
	c = lock.Claim{Number: number, Token: v.Labels[labelToken], Holder: v.Labels[labelHolder], Process: v.Labels[labelProcess], Age: -1}
	if made, err := time.Parse(time.RFC3339, v.CreatedAt); err == nil {
		if c.Age = now.Sub(made); c.Age < 0 && c.Age > -time.Second {
			c.Age = 0 // its second had begun: the engine's times are whole seconds
		}
	}
	return c, true
}

// Claim implements lock.Store. An engine creates a volume of a name only once, and returns that volume to everybody who asks later.
func (e *Engine) Claim(ctx context.Context, cluster string, c lock.Claim) (got lock.Claim, err error) {
	name := claimName(cluster, c.Number)
	err = e.call(ctx, "lock cluster "+cluster, func(ctx context.Context) error {
		v, err := e.api.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: map[string]string{
			labelLock: cluster, labelNumber: strconv.Itoa(c.Number), labelToken: c.Token, labelHolder: c.Holder, labelProcess: c.Process,
		}})
		if err != nil {
			return err
		}
		var ok bool
		if got, ok = claimOf(&v, cluster, time.Now()); !ok {
			return fmt.Errorf("a volume called %s is in the way, which is not a lock; remove it with `docker volume rm %s`", name, name)
		}
		got.Age = 0 // this call created the volume, or another one did a moment ago
		return nil
	})
	return got, err
}

// Unclaim implements lock.Store.
func (e *Engine) Unclaim(ctx context.Context, cluster string, number int) error {
	return e.call(ctx, "unlock cluster "+cluster, func(ctx context.Context) error {
		return ignoreNotFound(e.api.VolumeRemove(ctx, claimName(cluster, number), false))
	})
}
