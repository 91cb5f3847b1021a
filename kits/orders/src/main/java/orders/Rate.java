package orders;

/** The load of a point at a rate: when requests are due does not depend on when earlier ones are done. */
final class Rate {
    /** Requests a second for the instance. */
    final double perSecond;
    /** Requests are due at equal distances, else at exponentially distributed ones. */
    final boolean even;
    /** Requests that may wait for a warehouse. */
    final int queue;
    /** The width of a column of the response times over time. */
    final long columnNs;

    Rate(double perSecond, boolean even, int queue, long columnNs) {
        if (!(perSecond > 0) || queue < 1 || columnNs < 1) {
            throw new IllegalArgumentException("rate, queue and columns are above 0");
        }
        this.perSecond = perSecond;
        this.even = even;
        this.queue = queue;
        this.columnNs = columnNs;
    }
}
