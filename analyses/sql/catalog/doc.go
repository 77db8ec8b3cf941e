// Package catalog describes the tables that statements read: their files, and what is known of their columns.
package catalog
