package orders;

import java.util.Arrays;

/** What one thread did in one point. Every thread has its own. */
final class Tally {
    /** The width of a bin of the series over time. */
    static final long BIN_NS = 1_000_000_000L;

    /** Buckets of the response times: an error of at most 0.4 % at their middle; of a column 3.2 %. */
    static final int TIMES_BITS = 7;
    static final int COLUMN_BITS = 4;

    final long[] counts = new long[Kind.ALL.length];
    final long[] totalNs = new long[Kind.ALL.length];
    final long[] maxNs = new long[Kind.ALL.length];
    final long[] bins;
    /** Hash of all screens, so that none can be left out. */
    long screens;
    /** All transactions, in ramps too. */
    long all;
    /** At a rate: response times by when the request was due, those measured and all by column; else null. */
    Histogram times;
    Histogram[] columns;
    /** Measured requests that were not done at the end. */
    long unanswered;
    /** When the first transaction began, and when the last one ended. */
    long began;
    long ended;

    Tally(int bins) {
        this.bins = new long[bins];
    }

    void count(Kind kind, long from, long now) {
        int k = kind.ordinal();
        long took = now - from;
        counts[k]++;
        totalNs[k] += took;
        if (took > maxNs[k]) {
            maxNs[k] = took;
        }
    }

    /** Room for the response times of a point at a rate. */
    void keepTimes(Window window, Rate rate) {
        times = new Histogram(TIMES_BITS);
        columns = new Histogram[(int) ((window.stop - window.begin - 1) / rate.columnNs) + 1];
        Arrays.setAll(columns, i -> new Histogram(COLUMN_BITS));
    }

    long counted() {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }
}
