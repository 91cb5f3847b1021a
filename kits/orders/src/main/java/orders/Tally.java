package orders;

/** What one thread did in one point. Every thread has its own. */
final class Tally {
    /** The width of a bin of the series over time. */
    static final long BIN_NS = 1_000_000_000L;

    final long[] counts = new long[Kind.ALL.length];
    final long[] totalNs = new long[Kind.ALL.length];
    final long[] maxNs = new long[Kind.ALL.length];
    final long[] bins;
    /** Hash of all screens, so that none can be left out. */
    long screens;
    /** All transactions, in ramps too. */
    long all;
    /** When the first transaction began, and when the last one ended. */
    long began;
    long ended;

    Tally(int bins) {
        this.bins = new long[bins];
    }

    long counted() {
        long sum = 0;
        for (long count : counts) {
            sum += count;
        }
        return sum;
    }
}
