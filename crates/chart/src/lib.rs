//! Data to SVG and to terminal bars: scales, axes, marks. Pure functions.
