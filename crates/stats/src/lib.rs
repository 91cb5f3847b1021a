//! Summaries, intervals, ratios, sequential looks, warm-up, scaling fits, means. Pure functions.
