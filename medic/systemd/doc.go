// Package systemd is the medic.Restarter for units: nodes and medics that `posta deploy --render systemd` has written units for (design §9, M9).
//
// Units are asked and told by systemctl, which comes with every systemd and speaks to it in whatever way that one wants:
//
//	Start      systemctl start     returns when the process exists (Type=exec)
//	Kill       systemctl kill      and then the unit is looked at until it has no process
//	Terminate  systemctl kill -s SIGTERM
//	Alive      systemctl show      MainPID
//
// systemd's own "restart" and "stop" are not used: they ask first and wait for TimeoutStopSec, and a node that hangs is never waited for (M5).
// A medic's own unit has Restart=always, for the last one and after a crash of the machine, so a killed medic may be back before Start:
// ErrRunning, which is no failure of a restart.
//
// It gives no hints (medic.Pids): each look is a process, and looking every few milliseconds would cost more than the silence that it saves.
package systemd
