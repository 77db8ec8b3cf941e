// Package systemd is the medic.Restarter for units: nodes and medics that `posta deploy --render systemd` has written units for (design
// §9, M9).
//
// It controls units with systemctl, which comes with every systemd and speaks the protocol of its version:
//
//	Start      systemctl start     returns when the process exists (Type=exec)
//	Kill       systemctl kill      repeats systemctl show until the unit has no process
//	Terminate  systemctl kill -s SIGTERM
//	Alive      systemctl show      MainPID
//
// systemd's own "restart" and "stop" are not used: they send SIGTERM and wait for TimeoutStopSec, and nothing may wait for a hung node
// (M5). A medic's own unit has Restart=always, so that the last medic is started again, also after a crash of the machine. So a killed
// medic may run again before Start is called. Start then returns ErrRunning, which counts as success.
//
// It gives no hints (medic.Pids): each look starts a process, and looking every few milliseconds would cost more than hints save.
package systemd
