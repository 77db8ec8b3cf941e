// Package rejects looks at rows that cannot be used before they are sent: --strict, --max-rejected and --rejects.
package rejects
