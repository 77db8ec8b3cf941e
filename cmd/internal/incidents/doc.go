// Package incidents shows the medics' journal: its entries as lines, the table of the last incidents, and their JSON.
package incidents
