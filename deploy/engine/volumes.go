package engine

import (
	"context"
	"slices"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/volume"

	"posta.dev/posta/deploy/plan"
	"posta.dev/posta/topology"
)

// volumes lists the volumes of the cluster, and others with names that the cluster needs. The containers were listed before.
func (e *Engine) volumes(ctx context.Context, cluster string, o *plan.Engine) error {
	arrived := map[string]bool{}
	err := e.eachContainer(ctx, plan.LabelArrived, "", func(c inspected) { arrived[c.labels[plan.LabelArrived]] = true })
	if err != nil {
		return err
	}
	return e.call(ctx, "list its volumes", func(ctx context.Context) error {
		all, err := e.api.VolumeList(ctx, volume.ListOptions{Filters: filters.NewArgs(filters.Arg("name", cluster+"-"))}) // anywhere in the name
		if err != nil {
			return err
		}
		for _, v := range all.Volumes {
			switch {
			case v.Labels[topology.LabelCluster] != "" && v.Labels["com.docker.compose.project"] != "":
				// of a cluster that compose created
			case v.Labels[topology.LabelCluster] == cluster:
				o.Volumes = append(o.Volumes, labelled(v, arrived[v.Name], o))
			case v.Labels[labelLock] != "":
			default:
				if own, ok := unlabelled(v.Name, cluster, o); ok {
					o.Volumes = append(o.Volumes, own)
				} else {
					o.Strangers = append(o.Strangers, v.Name)
				}
			}
		}
		return nil
	})
}

// labelled returns a volume that CreateVolume created. arrived reports whether the copy into it is complete.
func labelled(v *volume.Volume, arrived bool, o *plan.Engine) plan.Volume {
	node := v.Labels[topology.LabelNode]
	ran := slices.ContainsFunc(o.Containers, func(c plan.Container) bool { return c.Unit == node && c.EverStarted })
	return plan.Volume{
		Name: v.Name, Node: node, Chain: v.Labels[plan.LabelChain], Fence: v.Labels[plan.LabelFence],
		Partial: v.Labels[plan.LabelArriving] != "" && !arrived && !ran,
	}
}

// unlabelled recognises a volume that the engine itself created, because a container of the cluster needed it and it did not exist.
func unlabelled(name, cluster string, o *plan.Engine) (v plan.Volume, ok bool) {
	for _, c := range o.Containers { // of the cluster, by their labels
		if !slices.Contains(c.Mounts, name) {
			continue
		}
		switch name {
		case plan.VolumeName(cluster, c.Unit):
			return plan.Volume{Name: name, Node: c.Unit, Chain: c.Chain}, true
		case plan.FenceName(cluster, c.Host):
			return plan.Volume{Name: name, Fence: c.Host}, true
		}
	}
	return v, false
}
