// Package chart draws the rows of an answer as SVG.
//
//	Of      chooses bars, lines or points from the types of the columns
//	SVG     the picture, as one element for a page; it has no script, no style and no reference to anything
//	CSS     the colours for it, light and dark: a page that shows a chart includes it in its style sheet
//
// Columns of numbers have scales of their own, so each has its own panel. All of it is pure and bounded: rows and panels beyond the bounds
// are left out, and the picture says so.
package chart
